// Package session owns one AMQP 1.0 session: its windows, its links, and every way in which it ends. Towards queues it is a
// channel.
//
// Owns: links by handle, publishes that queues have not confirmed, deliveries that the client has not settled, and what waits
// for room or for the client's window. A link that the client sends on has an exchange and a routing key, or none; one that it
// receives on is a consumer with a credit of its own (actors/queue/consumers). Nodes such as /management answer requests, which come on one
// link, on another one (nodes.go).
//
// Mail: it takes Inbound and CloseChannel from its connection, Deliver, Drained, EnqueueReply, ConsumeReply, CancelConsumerReply,
// ConsumerCancelled and DeliveriesReturned from queues, DescribeChannel and FindDeliveries from whoever asks. It sends Enqueue, Consume,
// Credit, Grant, CancelConsumer, Settle and ChannelGone to queues, ChannelClosed and CloseConnection to its connection; for requests what a
// channel sends for its commands (actors/channel/requests), and DescribeQueue.
//
// A turn: what came changes the state; then outcomes, replies and deliveries go to the outbox, as far as there is room, in this
// order. Replies stop the client's input until they are written. An attach or detach of a receiving link waits for the queue, a request for its
// reply, and everything behind it, too; but behind a link that waits for a session of a queue all goes on (receive.go).
//
// States:
//
//	open ──error──▶ closing ──the client's end──▶ ended
//	 ├──the client's end, or the connection's──────▶
//	 └──a broken frame──▶ dead, until the connection ends
//
// Deadlines: 30 s for an answer of a queue, of the time that the broker runs.
//
// A restart loses: the session, and with it the connection. What was not settled is the queues' and comes back there.
package session
