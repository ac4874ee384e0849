// Package replies is direct reply-to: a channel that consumes amq.rabbitmq.reply-to takes replies as a queue would, and
// writes them at once. Nothing is kept for it, and nothing outlives it.
//
// Owns: the channel's place among those who wait for replies in the virtual host, which End gives back, and the replies in
// hand.
//
// Deadlines: none. A restart loses everything; replies on their way are dropped.
package replies
