// Package management reads what clients of AMQP 1.0 ask the node /management for in RabbitMQ's dialect, and writes the answers: queues,
// exchanges and bindings as over HTTP, each request and each answer being a message.
//
// Owns: nothing. A [Request] says which [Operation] it wants, which whoever runs it does as a method of 0-9-1, with that method's checks and
// permissions. Codes and texts are those of RabbitMQ 4.0.
package management
