// Package servicebus translates between the broker and clients of Azure Service Bus, whose dialect of AMQP 1.0 links to
// plain names have: which links those are, lock tokens, batches, annotations of deliveries, outcomes, and the requests
// of its nodes.
//
// Owns: nothing. It is pure.
package servicebus
