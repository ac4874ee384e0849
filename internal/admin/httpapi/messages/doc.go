// Package messages is the section of the HTTP API about single messages: get and publish as in RabbitMQ and, below
// /api/x, requests that show messages without consuming them, renew locks, and change scheduled messages. The latter
// are operations, which Command also executes for admin commands over AMQP.
package messages
