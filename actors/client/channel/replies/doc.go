// Package replies implements direct reply-to: a channel that consumes amq.rabbitmq.reply-to takes replies as a queue
// would, and writes them at once. Replies are not stored.
//
// Owns: the channel's registration as a requester in the virtual host, which End removes, and the replies being
// handled.
//
// Deadlines: none. A restart loses everything; replies under way are dropped.
package replies
