// Package management reads requests of AMQP 1.0 clients to the node /management in RabbitMQ's dialect, and writes the
// answers: about queues, exchanges and bindings as over HTTP, each request and each answer in a message.
//
// Owns: nothing. A [Request] names the [Operation] it wants, which the caller runs as a method of 0-9-1, with that
// method's checks and permissions. Codes and texts equal RabbitMQ 4.0's.
package management
