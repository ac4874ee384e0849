// Package move is the actor that moves messages of one queue to where somebody wants them, within a virtual host (ADR 64).
//
// Owns: how far it is, and what it has claimed and not settled: one batch of at most mail.MostClaimed messages. The queue owns the
// messages until all targets of one have confirmed it.
//
// Takes: Claimed from the queue, EnqueueReply from targets, stop from whoever asked, again and tick from itself.
// Sends: Claim and Settle to the queue, Enqueue to targets.
//
// States: running → finished, stopped or failed. What nothing leads to, a target refuses, or the user may not publish is put back
// and counted with the reason; it is tried once.
//
// Deadlines: the next batch, if there is a rate. A restart of the broker ends the move: it is started again by whoever started it. Of the batch
// under way, messages may be in their targets and in the queue then; of all others each is in one of them.
package move
