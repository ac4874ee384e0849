// Package settlement converts settlements of clients of RabbitMQ's dialect for queues, and answers of queues for
// clients of Azure Service Bus's.
//
// Owns: settlements that wait for answers of queues. It sends nothing itself.
package settlement
