// Package trace makes the firehose copies of publishes and deliveries in a traced virtual host, with RabbitMQ's
// routing keys, headers and types.
//
// Owns: nothing. Copies are published like any message, but are neither counted nor confirmed.
package trace
