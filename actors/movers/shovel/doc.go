// Package shovel is the actor of a shovel: it takes messages from a queue or an exchange of one broker and publishes
// them to another, or to the same one (ADR 52).
//
//	shovel.go   the actor: one session at a time, a pause after each that failed
//	state.go    its core: reactions to a session's end, and the published status
//	session.go  a goroutine that is connected to both brokers and moves messages
//	progress.go its core: publishes by delivery, acknowledgements, detection of the end
//	connect.go  addresses → connections, queues and the consumer
//	message.go  the publish for a delivery
//	guard.go    limits on the memory that the peer can make us use
//
// Owns: two connections of github.com/rabbitmq/amqp091-go while a session runs.
//
// States: starting, running (or blocked, while the destination takes no messages), and terminated, with the reason.
//
// Deadlines: a session may take 30 s to connect to an address, and 30 s for declaring queues and consumer; the pause
// after a failed session is the shovel's reconnect-delay; messages refused by the destination are returned to the
// source after 1 s.
//
// Holds: at most MaxPrefetch messages, and 16 MiB plus one message; the next is read when some are acknowledged.
//
// A restart loses nothing with ack-mode on-confirm: unconfirmed messages were not acknowledged, so they are in the
// source again and may be duplicated. on-publish and no-ack lose messages under way.
package shovel
