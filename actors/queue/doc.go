// Package queue is the queue actor: it keeps, delivers and expires the messages
// of one queue, and ends itself when its lease does.
//
// Owns: the messages, wherever they are (messages: backlog, expiry, schedule, deadletters, paging, records), the lease,
// consumers, their credit (consumers), sessions that they lock (sessions, receivers) and what they have not acknowledged (deliveries), credit of publishers that outrun them (flowcontrol),
// long commands (work); inspect answers questions. A delayed exchange's holder only releases what is due.
//
// Takes: Enqueue Settle Consume CancelConsumer Grant Allow Limit Resize Get ReceiveDeferred Purge
// ChannelGone from channels; DeclareQueue DeleteQueue Configure Wake QueueForgotten
// QueueKept from its vhost; DeadLetterReply from the dead-letter actor; Trim ClockJumped from
// supervision; DescribeQueue Peek ListUnacked RenewLock SettleLocked ReturnDelivery PrepareWork ReleaseWork Claim UseSession ListSessions ListScheduled CancelScheduled
// Reschedule from anybody; timerFired appendDone loaded lookedUp again from itself.
// Sends: EnqueueReply Deliver Offer Unused ConsumerCancelled DeliveriesReturned and
// the replies to the commands above; DeadLetter and QueueExpired; QueueRetiring and
// QueueDeleteRefused to its vhost.
//
// The shell (queue.go) has the mailbox, the clock and one timer. The core
// (state.go and its kind) is told now, and gathers what must happen in an outcome, which
// the shell carries out. What follows from any mail is in turn.go, in one order.
//
// States of a message:
//
//	        take                 settle(ack)
//	ready ───────▶ unacked ─────────────────▶ gone
//	  │  ◀───────     │ settle(reject)          ▲
//	  │   requeue     ▼                         │ DeadLetterReply
//	  └──────────▶ dead ────────────────────────┘
//	    deadline      (without dead-letter exchange: gone at once)
//
// What is deferred is taken and held by nobody (deferred). With forward-to what is ready is moved on: it waits with the dead letters.
//
// Of each, the content is in memory, or paged out: in the journal only. What is to
// survive is there anyway; of the rest copies are written (Spill) while memory is
// tight. Whatever needs a content waits until it is read back (paging).
//
// States of the queue:
//
//	          Wake         lease over, deleted,          QueueForgotten       nothing
//	asleep ────────▶ live ───unused────────▶ retiring ───────────▶ draining ──sent───▶ ended
//	                      ◀────────────── QueueKept
//
// asleep: recovered, mail is parked. retiring: the vhost decides, all mail is
// parked. draining: nobody knows the queue, publishes count as routed and are
// discarded, but dead letters are sent first. ended: the mailbox is closed and what is
// left in it answered.
//
// Deadlines: of each ready message, of each delivery (consumer timeout), of the
// next attempt for dead letters that nobody took, of reading again, and of the lease,
// under one timer. Expiry is eager, at any position (wheel); strict mode looks at the
// head only. What may take long (expiry, overflow, new deadlines, trims) goes on in turns of
// messages.TurnLimit; a command about more than workLimit messages, too (work.go): mail from peers waits.
// All are in the broker's time; dates that come in or go out are moved by the skew of
// the wall clock (walltime.go, ADR 19).
//
// A restart loses: transient messages, and in a queue that is not durable all of
// them; which consumer had what: that comes back redelivered. Deadlines that a policy
// changed follow from the settings and the time of each record. A panic cancels the
// consumers. When the journal fails, the queue refuses what is to survive, goes on
// with what it has, and drops nothing.
package queue
