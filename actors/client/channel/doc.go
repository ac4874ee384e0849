// Package channel is the actor of one AMQP channel: it assembles publishes, routes them, keeps track of confirms and
// unacked deliveries, and executes the client's commands strictly in order.
//
// Owns: consumers by tag, and its parts, one package each (ADR 44): later input while a command waits for its answer
// (actors/client/input), delivery tags (unacked, qos), publish numbers (confirms), the batches for queues collected during one turn
// (routing), uncommitted work of a transaction (tx), output that waits for the client to read (output), its
// registration for direct replies (replies).
//
// Takes: Inbound and CloseChannel from its connection; Enqueue, with replies, from other channels; EnqueueReply Deliver
// Offer Unused ConsumerCancelled DeliveriesRequeued and replies from queues; TopologyReply and DeclareQueueReply from
// the vhost's side; OutboxReady; DescribeChannel and FindDeliveries from any actor; decision, PeerGone and the mail of
// actors/client/input from itself. Sends: Enqueue Settle Consume CancelConsumer Grant Allow Reclaim Limit Resize Get Purge ChannelGone to queues, EnqueueReply to the senders of replies, declarations, bindings and AwaitQueue
// to the vhost, ChannelClosed and CloseConnection to its connection. Frames are written directly to the connection's
// outbox.
//
// States:
//
//	open ──(channel exception)──▶ closing ──(close-ok)──▶ ended
//	  └──(channel.close, connection ends)───────────────────▲
//
// In closing, all deliveries have been returned to the queues, and all frames except channel.close and close-ok are
// ignored. After a connection exception, closing lasts until the end of the connection. When the connection ends
// normally, input that was read before is still executed.
//
// Three things wait, each in its own list: reads after a command that waits for an answer or for the client to read its
// output (parked), all output while the outbox is full (output, ADR 24), and batches until the end of the read in which
// they arrived (routing). A read chunk is retained by a parked read and by a batch, never by held output.
//
// A turn ends after some steps of routing (topology.TurnSteps) and continues in another one; so does the end of a
// transaction after tx.EndLimit steps. A publish whose route alone takes more steps waits like a command while a
// goroutine computes the route.
//
// A content that is incomplete at the end of its read is kept only if it is valid and the broker's intake
// (internal/transport/budget) has room for all of it; otherwise the read is parked until there is room.
//
// Deadlines: an answer to a command is due within 30 s, not counting time while the machine is suspended (ADR 33); then
// the error is 541. An answer that waits for the client to read has none.
//
// A restart loses: the channel; after a panic it is stopped, not restarted. Queues own its deliveries and requeue
// them at their positions (PRO-7).
package channel
