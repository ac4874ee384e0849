// Package tx keeps what a transactional channel has published and settled until tx.commit or tx.rollback [AMQP 1.9]. As
// in RabbitMQ the checks and the routing are done before, and the queues are told one after the other: it is not atomic
// over several.
//
// Owns: the publishes, in memory of their own that counts in the broker's intake (internal/budget), the settlements, how
// far the end of a transaction has come, and how many answers a commit waits for.
//
// The end of a transaction deals with EndLimit things in a turn (ADR 29).
//
// Deadlines: none. A restart loses what was not committed; the queues have what was not acknowledged.
package tx
