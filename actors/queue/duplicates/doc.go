// Package duplicates knows the ids of messages that a queue has accepted within its window (DUP-1).
//
// Owns: hashes of the last Most ids, with the moment until which each counts.
//
// Deadlines: those moments; what is over is forgotten up to Slack later, in bulk.
//
// A restart loses the ids of messages that were not stored: the queue's journal has notes of the others.
package duplicates
