// Package republish is the dead-letter actor of one virtual host: it publishes the dead letters of queues to their
// dead-letter exchanges.
//
// Owns: the copies that targets have not answered, by number; the waiting batches, by source; the cycles and rules
// already warned of; the expired queues not yet logged.
//
// Takes: DeadLetter and QueueExpired from queues; EnqueueReply from targets; FinishDeadLetters from a node that stops;
// continueBatch, askAgain, searched, reportExpired and PeerGone from itself. Sends: one Enqueue per target queue and batch, in
// the order of the source; DeadLetterReply to the source once every target of a message has answered or ended, or at
// once for messages dropped by the rules (DL-13, DL-25). Depending on Guarantee, messages that could not be enqueued
// are returned to their source, which retries them later (DL-30).
//
// Messages released for a delayed exchange take the same path, but get no x-death (DLY-4). So do messages that a
// queue forwards (forward-to).
//
// A message that is dead-lettered again by a target arrives as new mail: chains are handled by iteration, never by
// recursion. A message that causes a panic is dropped, logged and counted, so that it does not affect others.
//
// A turn ends after some messages or steps of routing (topology.TurnSteps). A message whose route alone exceeds a turn
// waits while a goroutine computes it, and later messages of the same queue wait too; messages of other queues
// continue.
//
// A message for several queues is copied only within the limit of its copies (DL-32), and waits while memory is scarce
// (DL-33), and later messages of the same queue wait too. Sources take turns.
//
// States: only the copies have states.
//
// Deadlines: none; the sources have the deadlines of retries.
//
// A restart (its supervisor restarts it after a panic) loses everything. Every source is informed and sends unanswered
// messages again, so that messages may be duplicated but not lost (PRO-12).
package republish
