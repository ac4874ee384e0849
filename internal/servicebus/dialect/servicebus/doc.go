// Package servicebus translates between the broker and clients of Azure Service Bus. Links to plain names use this
// dialect of AMQP 1.0. It has the tests for such links, lock tokens, batches, annotations of deliveries, outcomes, and
// the requests of its nodes.
//
// Owns: nothing. It is pure.
package servicebus
