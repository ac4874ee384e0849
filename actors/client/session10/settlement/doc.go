// Package settlement converts settlements of clients of RabbitMQ's dialect for queues, and answers of queues for
// clients of Azure Service Bus's. It counts the outcomes of messages that clients send, also of batches.
//
// Owns: settlements and messages that wait for answers of queues. It sends nothing itself.
package settlement
