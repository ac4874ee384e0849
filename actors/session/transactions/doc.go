// Package transactions keeps what a session has sent and settled in transactions of its connection until these are discharged
// [ADR 84].
//
// Owns: the messages, in memory of their own that counts among what clients have begun (internal/budget), and the deliveries,
// taken out of what is unacknowledged.
//
// Deadlines: none, those of the transactions are the connection's. A restart loses what was not committed; the queues have what
// was not settled.
package transactions
