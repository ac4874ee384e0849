// Package deadletter is the dead-letter actor of one virtual host: it publishes
// what died in a queue to that queue's dead-letter exchange.
//
// Owns: the copies that targets have not answered yet, under ticket numbers; the
// batches it has not come to; the cycles it has warned of; the queues that expired and are not logged yet.
//
// Takes: DeadLetter and QueueExpired from queues; EnqueueReply from targets;
// continueBatch, searched and reportExpired from itself. Sends: one Enqueue per target queue and batch, in the order
// of the source; DeadLetterReply to the source once every target of a message
// has answered or is gone, or at once for what the rules drop (DL-13, DL-25). A
// source that cares gets back what could not be enqueued, and sends it again
// later (DL-30).
//
// What the holder of a delayed exchange releases goes the same way, but unstamped:
// it has not died (DLY-4). So does what a queue moves on (forward-to).
//
// A message that dies again in a target comes back as new mail: chains are
// iterated, never recursive. A message that panics on its way is dropped, logged
// and counted, so that it does not take the others with it.
//
// A turn ends after some messages or steps of routing (topology.TurnSteps). A
// message whose route alone takes more waits while that is looked for on a
// goroutine, and those of the same queue behind it; others go on.
//
// States: none besides the copies.
//
// Deadlines: none; the sources have those of another attempt.
//
// A restart (its supervisor restarts it after a panic) loses: all of it. Every
// source is told and sends again what was not
// answered, so that duplicates are possible and loss is not (PRO-12).
package deadletter
