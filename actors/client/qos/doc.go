// Package qos divides the limit that all consumers of a channel share (basic.qos with global=true) among the queues
// that they consume from: queues offer, the channel allows (PRO-8).
//
// Owns: the limit, its use, and the offers that do not fit. It counts every delivery to a consumer and every
// settlement, even without a limit.
//
// Sends: Allow, Reclaim, Limit and Resize to queues. Remaining room is allowed in advance to queues that ask for it,
// and reclaimed when other queues need it.
//
// Deadlines: none. A restart loses everything, as the channel does.
package qos
