// Package messages is the section of the HTTP API about single messages: get and publish as RabbitMQ has them and,
// below /api/x, what looks at messages without taking any, renews locks, and changes scheduled messages. Those of the
// second kind are operations, which Command also executes for admin commands over AMQP.
package messages
