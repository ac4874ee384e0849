// Package unacked keeps the unacked deliveries of a channel, by delivery tag.
//
// Owns: the tags and their deliveries, the channel's common limit (package qos), and the settlements to be sent to
// queues at the end of the turn.
//
// Sends: Settle to queues, when Flush is called.
//
// A delivery that its queue has requeued (ADR 10) is late: its tag stays valid but does not count towards any limit,
// and the queue ignores its settlement.
//
// Deadlines: none. A restart loses everything; the queues have the unacked messages (PRO-7).
package unacked
