// Package session10 is the actor of one AMQP 1.0 session: its windows, its links, and all ways in which it ends. To
// queues it acts as a channel.
//
// Owns: links by handle, and its parts (parts.go), which have publishes that queues have not confirmed, deliveries that the
// client has not settled, and output that waits for room or for the client's window. A link on which the client sends has an exchange and a routing
// key, or neither; a link on which it receives is a consumer with link credit (actors/queue/consumers). Nodes such as
// /management receive requests on one link and answer on another one (nodes.go).
//
// It takes Inbound, Block, Unblock, AccessChanged, StepTransaction, DischargeTransactionReply and CloseChannel from its
// connection; Deliver, CreditTaken, EnqueueReply, Settled, PrepareWorkReply, ConsumeReply, CancelConsumerReply,
// ConsumerCancelled, ConsumerTimedOut and DeliveriesRequeued from queues; Enqueue, with direct replies, from channels
// and sessions; OutboxReady; DescribeChannel and FindDeliveries from any actor; PeerGone and the mail of actors/client/input
// from itself. It sends Enqueue, Consume, Credit, Grant, CancelConsumer, Settle, PrepareWork, ReleaseWork and
// ChannelGone to queues, ChannelClosed and CloseConnection to its connection, and for requests the same mail as a
// channel for its commands (actors/client/requests) and DescribeQueue.
//
// A turn: input changes the state; then outcomes, replies and deliveries are written to the outbox, in this order,
// until it is full. Replies stop the client's input until written. An attach or detach of a receiving link waits for
// the queue, a request for its reply. Later input waits too, unless a link waits for a queue's session (receive.go).
//
// States:
//
//	open ──error──▶ closing ──the client's end──▶ ended
//	 ├──the client's end, or the connection's──────▶
//	 └──a broken frame──▶ dead, until the connection ends
//
// Deadlines: 30 s for an answer of a queue, not counting time while the machine sleeps.
//
// A restart loses: the session, and with it the connection. The queues requeue unsettled messages.
package session10
