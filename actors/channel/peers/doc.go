// Package peers tracks the queues that a channel has to do with: those that owe it confirms or to which it owes
// settlements, and those it consumes from.
//
// Owns: one Peer for each, which is watched while it is known, with the number of unanswered publishes.
//
// A queue answers every publish before it ends, or another actor does so in its place; Gone detects that none did.
//
// Deadlines: none. A restart loses everything, as the channel does.
package peers
