// Package consumers keeps the consumers of one queue: whose turn it is, who is active, what each may still be given,
// and what nobody has acknowledged yet.
//
// Owns: the channels that consume or hold messages, their unacknowledged deliveries, and what they were given in this
// turn. A Set belongs to its queue's goroutine.
//
// Sends, through its Outbox: Deliver, Offer and Unused to channels.
//
// A consumer is in the ring of its priority while it can take a message: while its prefetch, its window and its
// channel's common limit leave room, and no other consumer is the active one. Next is the first of the highest ring
// that has any.
//
// Deadlines: none. A restart loses everything: what was unacknowledged is ready again.
package consumers
