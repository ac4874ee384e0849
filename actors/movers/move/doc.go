// Package move is the actor that moves messages from one queue to other queues or exchanges of its virtual host, on
// request (ADR 64).
//
// Owns: its progress, and the unsettled claimed messages: one batch of at most mail.MaxClaimed messages. The queue owns
// a message until all its targets have confirmed it.
//
// Takes: ClaimReply and SettleReply from the queue, EnqueueReply from targets, Stop from any actor, again and tick from itself. Sends:
// Claim and Settle to the queue, Enqueue to targets.
//
// States: running → finished, stopped or failed. A message that is unroutable, is refused by a target, or may not be
// published by the user is put back and counted by reason; each message is tried only once.
//
// Deadlines: the next batch, if there is a rate. A restart of the broker ends the move; it has to be requested again.
// Messages of the current batch may then be both in their targets and in the queue; every other message is in exactly
// one place.
package move
