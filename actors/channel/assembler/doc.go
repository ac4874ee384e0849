// Package assembler puts the contents of a channel together: basic.publish, content header and body frames become one
// message, with RabbitMQ's errors for frames that do not belong there.
//
// Owns: the content that has begun, and its room in the broker's intake (internal/budget). A content whose frames come
// in one read is never copied, only what is not whole at the end of a read, and nothing of one that is refused.
//
// Deadlines: none. A restart loses what has begun; the client has been told of nothing.
package assembler
