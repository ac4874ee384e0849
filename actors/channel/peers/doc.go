// Package peers keeps the queues that owe a channel something, or the other way round: confirms, deliveries, consumers.
//
// Owns: one Peer for each, which is watched as long as it is known, with the number of publishes that it has not answered.
//
// A queue answers every publish before it ends, or somebody answers for it; Gone tells when nobody did.
//
// Deadlines: none. A restart loses everything, as the channel does.
package peers
