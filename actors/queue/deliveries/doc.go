// Package deliveries is what channels hold of the messages of a queue: from the delivery until it is settled, or comes back
// because nobody settled it in time (ADR 10).
//
// Owns: the timeouts of deliveries. The deliveries themselves are in the channels (consumers), the messages in their set.
//
// Takes, from the queue: Settle, RenewLock, ReturnDelivery. What is too much for one turn becomes work.
//
// Deadlines: those of the timeouts.
//
// A restart loses: who held what; that comes back redelivered.
package deliveries
