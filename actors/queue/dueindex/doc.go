// Package dueindex keeps entries in the order of their due times, so that they can be listed, counted and changed.
//
// Owns: a sorted list of due times, in leaves of up to 512, and three short arrays: the leaves, the first due time of
// each, and its length. The entries belong to the caller (Store); the index refers to them by uint32 handles and
// takes 12 bytes for each, without pointers.
//
// States: an entry is in the index or not. Entries with the same due time are ordered by number.
//
// The first entry is found at once; a lookup takes two binary searches; a count adds up the lengths: 10,000 numbers for
// five million entries. A wheel (package wheel) adds and removes faster, but has no order until an entry is nearly due:
// to list a page, all entries due in the same hours would have to be examined.
//
// Deadlines: wall milliseconds; the index has no clock and fires nothing: its owner queries the first entry.
//
// A restart loses everything; the owner adds its entries again.
package dueindex
