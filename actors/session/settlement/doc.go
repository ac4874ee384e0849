// Package settlement translates what clients of RabbitMQ's dialect say of deliveries for queues, and tells clients of Azure Service Bus's what queues answer.
//
// Owns: what queues are asked about deliveries. It is pure.
package settlement
