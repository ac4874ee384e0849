// Package consumers keeps the consumers of one queue: the next one, the active one, the credit of each, and the
// unacked deliveries.
//
// Owns: the channels that consume or hold messages, their unacked deliveries, and the deliveries of this turn. Consumers
// belong to their queue's goroutine.
//
// Sends, through its Outbox: Deliver, Offer and Unused to channels.
//
// A consumer is in the ring of its priority while it can take a message: while its prefetch, its window and its
// channel's common limit leave room, and no other consumer is the active one. Next returns the next consumer of the
// highest ring that is not empty.
//
// Deadlines: none. A restart loses everything: unacked messages are ready again.
package consumers
