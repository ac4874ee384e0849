// Package dueindex keeps what is to happen in the order of its time, so that it can be listed, counted and changed, not only
// waited for.
//
// What it owns: a sorted list of due times, in leaves of up to 512, and beside them three short arrays: the leaves, the due time
// that each begins with, and how many are in it. The entries belong to the caller (Store); the index names them by uint32
// handles and keeps 12 bytes of each, without pointers.
//
// Its states: an entry is in the index or not. Those that are due at the same time stand in the order of their numbers.
//
// The next one is at hand; finding a place takes two binary searches; a count adds up the arrays: 10,000 numbers for five million
// entries. A wheel (package wheel) is faster to add to and to take from, but knows no order before something is nearly due: a
// page of a list would have to look at all that is due in the same hours.
//
// Its deadlines: wall milliseconds; it has no clock, and never fires: the owner asks for the first.
//
// What a restart loses: everything; the owner adds its entries again.
package dueindex
