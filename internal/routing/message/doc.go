// Package message holds the messages of the broker: AMQP contents on their way from a publisher to queues and
// consumers, and the memory that holds them.
//
// Owns: Message, immutable once it is routed, so that fan-out, redelivery and dead-lettering share it; Overlay, what
// the broker adds to a content without touching the publisher's bytes (PRO-9); Chunk and Gate, the read buffers and the
// credit that bounds the input of a connection that is in use (PRO-10).
//
// States: a Chunk is held by all that retained it. The last Release returns its bytes to the connection's Gate and its
// memory to the pool. A reference lost in a panic only leaves the memory to the garbage collector and reduces the
// credit of a connection that is being closed.
//
// Deadlines: none here; the queue computes them at enqueue.
//
// A restart loses: everything; durable messages are in the journal.
package message
