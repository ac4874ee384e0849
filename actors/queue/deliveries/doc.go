// Package deliveries keeps the unacked deliveries of a queue, until they are settled, or requeued because they were
// not settled in time (ADR 10).
//
// It delivers ready messages to consumers, and has the long commands of a queue: settling, purges, and claims of a move, whose
// messages are held as deliveries.
//
// Owns: the timeouts of deliveries, and the locks of deliveries without an owner. The deliveries themselves are in the
// channels (consumers), the messages in their set.
//
// Takes, from the queue: Settle, RenewLock, ReturnDelivery. Operations that exceed one turn continue as work.
//
// Deadlines: the timeouts of deliveries.
//
// A restart loses the deliveries: their messages are requeued as redelivered.
package deliveries
