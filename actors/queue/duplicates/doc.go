// Package duplicates keeps the ids of messages that a queue has accepted within its window, to detect duplicates
// (DUP-1).
//
// Owns: hashes of the last MaxIDs ids, and the time at which each expires.
//
// Deadlines: the times of the ids; expired ids are removed up to Slack later, in bulk.
//
// A restart loses the ids of messages that were not stored; for the others, the journal has notes.
package duplicates
