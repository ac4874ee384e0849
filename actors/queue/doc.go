// Package queue is the queue actor: it keeps, delivers and expires the messages
// of one queue, and ends itself when its lease does.
//
// Owns: the messages (backlog), their deadlines (wheel), the lease, consumers
// and their credit, unacknowledged deliveries of every channel, dying messages.
//
// Takes: Enqueue Settle Consume CancelConsumer Grant Allow Limit Resize Get
// Purge ChannelGone from channels; DeclareQueue DeleteQueue Configure Wake
// QueueForgotten QueueKept from its vhost; DeadLetterReply from the dead-letter actor;
// DescribeQueue from anybody; timerFired appendDone again from itself.
// Sends: EnqueueReply Deliver Offer Unused ConsumerCancelled DeliveriesReturned and
// the replies to the commands above; DeadLetter and QueueExpired; QueueRetiring and
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
// States of the queue:
//
//	      the lease ran out,
//	      deleted, unused       QueueForgotten         nothing dying
//	live ────────────▶ retiring ─────────────▶ leaving ─────────────▶ ended
//	  ◀──── QueueKept ────┘
//
// retiring: the vhost decides, all mail is parked. leaving: nobody knows the
// queue, publishes count as routed and are discarded, but what is dying is seen
// off. ended: the mailbox is closed and what is left in it answered.
//
// Deadlines: of each ready message, of each delivery (consumer timeout), of the
// next attempt for dead letters that nobody took, and of the lease, under one
// timer. Expiry is eager, at any position (wheel); strict mode looks at the head
// only and leaves the wheel alone. What may take long (expiry, overflow, new deadlines after a
// policy change, a backlog that is dead-lettered) goes on in turns of turnLimit.
//
// Not covered: a message with TTL 0 never reaches a consumer under its channel's
// common limit, whose credit is asked for only when something waits.
//
// A restart loses: everything, as long as the journal is in memory. A panic
// ends the queue: its consumers are cancelled, publishes are refused. Deadlines
// that a policy changed are not in the journal: they follow from the settings
// and the time of each record.
package queue
