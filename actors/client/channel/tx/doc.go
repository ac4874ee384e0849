// Package tx keeps the publishes and settlements of a transactional channel until tx.commit or tx.rollback [AMQP 1.9].
// As in RabbitMQ, checks and routing happen before the commit, and the queues get the messages one after the other: a
// commit to several queues is not atomic.
//
// Owns: the publishes, copied and counted in the broker's intake (internal/transport/budget), the settlements, the progress of
// a commit or rollback, and the number of outstanding answers to a commit.
//
// A commit or rollback processes EndLimit items in a turn (ADR 29).
//
// Deadlines: none. A restart loses uncommitted work; the queues have the unacked messages.
package tx
