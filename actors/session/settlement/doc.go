// Package settlement translates what clients of RabbitMQ's dialect say of deliveries for queues.
//
// Owns: nothing. It is pure.
package settlement
