// Package rights checks what the user of a channel may do: the questions that methods ask, put to internal/auth in the
// order in which RabbitMQ asks them, and its answers as AMQP errors.
//
// Owns: nothing. What was allowed before Permissions.Generation grew has to be asked again by whoever remembers it.
package rights
