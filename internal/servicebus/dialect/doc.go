// Package dialect translates between AMQP 0-9-1, which the broker speaks within itself, and AMQP 1.0 as RabbitMQ 4 does:
// messages, errors and addresses.
package dialect
