// Package channel is the actor of one AMQP channel: it assembles publishes,
// routes them, keeps track of confirms and unacknowledged deliveries, and runs
// the client's commands strictly in order.
//
// Owns: consumers by tag and, while a command waits for its answer, everything the
// client sent behind it; and its parts, one package each (ADR 44): delivery tags
// (unacked, qos), publish numbers (confirms), the batches for queues that gather
// during one turn (routing), what a transaction keeps until its commit (tx), what
// waits for the client to read (output), its place among those who wait for replies
// (replies).
//
// Takes: Inbound and CloseChannel from its connection; Enqueue, with replies,
// from other channels; EnqueueReply Deliver Offer Unused ConsumerCancelled
// DeliveriesReturned and replies from queues; TopologyReply and
// DeclareQueueReply from the vhost's side; OutboxReady; DescribeChannel and
// FindDeliveries from anybody; awaitExpired, longFound, resumeWork and
// decision from itself. Sends: Enqueue Settle Consume CancelConsumer Grant Allow Limit
// Resize Get Purge ChannelGone to queues, EnqueueReply to who replied, declarations and
// bindings to the vhost, ChannelClosed and CloseConnection to its connection.
// Frames go straight into the connection's outbox.
//
// States:
//
//	open ──(channel exception)──▶ closing ──(close-ok)──▶ ended
//	  └──(channel.close, connection ends)───────────────────▲
//
// In closing everything was given back to the queues and all frames but
// channel.close and close-ok are ignored. A connection exception is a closing
// that only the end of the connection ends. When the connection ends by itself,
// what was read before is still run.
//
// Three things wait, each in its own list: reads behind a command that waits, for
// an answer or for its own to be read (parked), all that the client is to be told
// while the outbox is full (output, ADR 24), batches until the end of the read they came in (routing). A read chunk
// is retained by a parked read and by a batch, never by what is held.
//
// A turn ends after some steps of routing (topology.TurnSteps) and goes on in
// another one; so does the end of a transaction after endLimit steps. A publish whose route alone takes more waits like a command while the
// route is looked for on a goroutine.
//
// A content that is not whole at the end of its read is kept only if nothing is
// wrong with it and the broker's intake (internal/budget) has room for all of it;
// else the read is parked until it has.
//
// Deadlines: an answer to a command is due within 30 s of the time that
// the broker runs (ADR 33), then 541. An answer that
// waits for the client to read has none.
//
// A restart loses: the channel; it is stopped on panic, never restarted. Queues
// own what it held and return it to its position (PRO-7).
package channel
