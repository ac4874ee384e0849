// Package message holds the messages of the broker: AMQP contents on their way from a publisher to queues and
// consumers, and the memory they lie in.
//
// Owns: Message, immutable once it was routed, so that fan-out, redelivery and dead-lettering share it; Overlay, what
// the broker adds to a content without touching the publisher's bytes (PRO-9); Chunk and Gate, the read buffers and
// the credit that bounds how much of a connection's input may be under way (PRO-10).
//
// States: a Chunk is held by whoever retained it. The last Release gives its bytes back to the connection's Gate and
// its memory to the next chunk. A reference lost in a panic leaves the memory to the garbage collector and costs
// credit of a connection that is being closed, never correctness.
//
// Deadlines: none here; the queue computes them at enqueue.
//
// A restart loses: everything; what must survive is in the journal.
package message
