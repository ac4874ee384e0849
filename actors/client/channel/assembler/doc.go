// Package assembler assembles the contents of a channel: basic.publish, content header and body frames become one
// message, with RabbitMQ's errors for unexpected frames.
//
// Owns: the current content, and its room in the broker's intake (internal/transport/budget). A content with one body frame whose
// frames arrive in one read is not copied. Any other content is copied, but no part of a refused one.
//
// Deadlines: none. A restart loses the current content, which was not acknowledged to the client.
package assembler
