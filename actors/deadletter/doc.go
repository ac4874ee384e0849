// Package deadletter is the dead-letter actor of one virtual host: it publishes the dead letters of queues to their
// dead-letter exchanges.
//
// Owns: the copies that targets have not answered, under ticket numbers; the batches that wait; the cycles it has
// warned of; the expired queues that were not logged yet.
//
// Takes: DeadLetter and QueueExpired from queues; EnqueueReply from targets; continueBatch, searched and
// reportExpired from itself. Sends: one Enqueue per target queue and batch, in the order of the source;
// DeadLetterReply to the source once every target of a message has answered or is gone, or at once for messages
// dropped by the rules (DL-13, DL-25). Depending on Guarantee, a source gets messages back that could not be
// enqueued, and retries them later (DL-30).
//
// Messages released for a delayed exchange take the same path, but get no x-death (DLY-4). So do messages that a
// queue forwards (forward-to).
//
// A message that is dead-lettered again by a target comes back as new mail: chains are iterated, never recursive. A
// message that causes a panic is dropped, logged and counted, so that it does not affect others.
//
// A turn ends after some messages or steps of routing (topology.TurnSteps). A message whose route alone exceeds a
// turn waits while a goroutine computes it, and later ones of the same queue behind it; those of other queues
// continue.
//
// States: none besides the copies.
//
// Deadlines: none; the sources have those of retries.
//
// A restart (its supervisor restarts it after a panic) loses all of it. Every source is informed and sends unanswered
// messages again, so that messages may be duplicated but not lost (PRO-12).
package deadletter
