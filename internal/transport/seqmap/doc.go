// Package seqmap maps growing numbers to values: delivery tags to deliveries, a queue's delivery numbers to its
// entries.
//
// Owns: nothing shared; a Map belongs to one goroutine.
//
// States: numbers are given out by Append, 1 first, and each is taken once.
// Blocks of 64 numbers come and go with their values, so that one delivery that
// is never settled does not keep memory for the millions that pass it.
//
// Deadlines: none. A restart loses everything.
package seqmap
