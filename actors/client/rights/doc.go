// Package rights checks the permissions of a channel's user: it asks internal/access/auth in RabbitMQ's order, and returns
// refusals as AMQP errors.
//
// Owns: nothing. Results may be cached until Permissions.Generation increases.
package rights
