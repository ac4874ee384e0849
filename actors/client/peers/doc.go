// Package peers tracks the queues with which a channel exchanges mail: queues that owe it confirms or to which it owes
// settlements, and queues from which it consumes.
//
// Owns: one Peer for each, which is watched while it is known, with the number of unanswered publishes.
//
// A queue answers every publish before it ends, or another actor answers in its place; Gone detects when neither did.
//
// Deadlines: none. A restart loses everything, as the channel does.
package peers
