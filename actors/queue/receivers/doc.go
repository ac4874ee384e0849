// Package receivers gives the sessions of a queue to consumers: who locks one, what becomes of what it holds when the lock ends, and what is
// asked about sessions.
//
// Owns: nothing but what is under way. Sessions are in theirs (sessions), deliveries in the channels (consumers).
//
// Takes, from the queue: Consume, CancelConsumer, UseSession, ListSessions. Sends, through its Outbox: ConsumeReply, SessionUsed, SessionList,
// DeliveriesReturned, ConsumerCancelled.
//
// Deadlines: those of the sessions.
//
// A restart loses: locks. States are in the journal, as notes.
package receivers
