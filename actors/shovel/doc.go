// Package shovel is the actor of a shovel: it takes messages from a queue or an exchange of one broker and publishes them to another,
// or to the same one (ADR 52).
//
//	shovel.go   the actor: one session at a time, a pause behind each that failed
//	state.go    its core: what becomes of a session's end, and what is told about it
//	session.go  a goroutine that is connected to both brokers and moves messages
//	progress.go its core: which publish is which delivery, what to acknowledge, when there is nothing left to do
//	connect.go  addresses → connections, queues and the consumer
//	message.go  what is published for a delivery
//	guard.go    what the other side can make us hold
//
// Owns: two connections of github.com/rabbitmq/amqp091-go while a session runs.
//
// States: starting, running (or blocked, while the destination takes nothing), terminated, with the reason.
//
// Deadlines: a session may take 30 s to connect to an address, and 30 s for queues and consumer; the pause behind one that failed is the
// shovel's reconnect-delay; what the destination refused goes back to the source after 1 s.
//
// Holds: at most MaxPrefetch messages, and 16 MiB of them besides the last; the next is read when some are acknowledged.
//
// A restart loses nothing with ack-mode on-confirm: what was not confirmed was not acknowledged, is in the source again, and may come
// twice. on-publish and no-ack lose what was on its way.
package shovel
