// Package queue is the queue actor: it keeps, delivers and expires the messages
// of one queue, and ends itself when its lease does.
//
// Owns: the messages (backlog), their deadlines (wheel), the lease, consumers
// and their credit, unacknowledged deliveries of every channel, dying messages.
//
// Takes: Enqueue Settle Consume CancelConsumer Grant Allow Limit Get Purge
// ChannelGone from channels; DeclareQueue DeleteQueue Configure QueueForgotten
// QueueKept from its vhost; DeadLetterReply from the dead-letter actor;
// DescribeQueue from anybody; timerFired appendDone again from itself.
// Sends: EnqueueReply Deliver Offer Unused ConsumerCancelled and the replies to
// the commands above; DeadLetter and QueueExpired; QueueRetiring and
// QueueDeleteRefused to its vhost.
//
// The shell (queue.go) has the mailbox, the clock and one timer. The core
// (state.go and its kind) is told now and gathers what must happen in an
// outcome, which the shell carries out at the end of the turn.
//
// States of a message:
//
//	        take                 settle(ack)
//	ready ───────▶ unacked ─────────────────▶ gone
//	  │  ◀───────     │ settle(reject)          ▲
//	  │   requeue     ▼                         │ DeadLetterReply
//	  └──────────▶ dying ───────────────────────┘
//	    deadline      (without dead-letter exchange: gone at once)
//
// States of the queue: live, retiring (asked the vhost to be forgotten, all
// mail is parked), ended (the mailbox is closed).
//
// Deadlines: of each ready message and of the lease, under one timer.
//
// A restart loses: everything, as long as the journal is in memory. A panic
// ends the queue: its consumers are cancelled, publishes are refused.
package queue
