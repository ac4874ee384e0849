// Package receivers assigns the sessions of a queue to consumers: it locks them, requeues the deliveries of a session
// when its lock ends, and handles commands about sessions.
//
// Owns: operations in progress only. Sessions are in package sessions, deliveries in the channels (consumers).
//
// Takes, from the queue: Consume, CancelConsumer, UseSession, ListSessions. Sends, through its Outbox: ConsumeReply,
// UseSessionReply, SessionList, DeliveriesRequeued, ConsumerCancelled.
//
// Deadlines: the sessions' own.
//
// A restart loses: locks. States are in the journal, as notes.
package receivers
