// Package queue is the queue actor: it stores, delivers and expires the messages of one queue, and ends the queue
// when its lease runs out.
//
// Owns: the messages, in memory or in the journal (messages: backlog, expiry, schedule, deadletters, paging, records),
// the lease, consumers and their credit (consumers), the sessions locked by consumers (sessions), unacked deliveries and
// long commands (deliveries); inspect answers queries. The queue of a delayed exchange only releases due messages.
//
// Takes: Enqueue Settle Consume CancelConsumer Grant Credit Allow Reclaim Limit Resize Get ReceiveDeferred Purge
// ChannelGone from channels; DeclareQueue DeleteQueue Configure Wake QueueForgotten QueueKept QueueEnding from its vhost;
// DeadLetterReply from the dead-letter actor; Trim ClockJumped from supervision; DescribeQueue Peek ListUnacked
// RenewLock SettleLocked ReturnDelivery PrepareWork ReleaseWork Claim PreviewSettings UseSession ListSessions
// ListScheduled ChangeScheduled PauseQueue DeleteMessages from any actor; timerFired appendDone loaded LookedUp again
// PeerGone from itself. Sends: EnqueueReply Deliver Offer Unused ConsumerCancelled ConsumerTimedOut DeliveriesRequeued
// and the replies to the commands above; DeadLetter and QueueExpired; QueueRetiring QueueHeldUp and QueueDeleteRefused to its
// vhost.
//
// The shell (queue.go) has the mailbox, the clock and one timer. The core (state.go and the files beside it) is
// passed the time and collects its effects in an outcome, which the shell carries out. The steps that follow any mail
// are in turn.go, in one order. Features are parts (ADR 128): parts.go lists them in the order in which they advance, and
// the gates for messages that arrive (publish.go). Parts share the host (host.go) and do not call each other.
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
// A deferred message is taken but held by no consumer (deferred). With forward-to, ready messages are moved on and
// wait among the dead letters.
//
// The content of a message is in memory, or paged out: in the journal only. Messages that the queue stores (STORE-1) are
// in the journal anyway; copies of other messages are written (Spill) while memory is tight. Operations that need a
// paged-out content wait until it is read back (paging).
//
// States of the queue:
//
//	          Wake         lease over, deleted,          QueueForgotten
//	recovering ────────▶ live ───unused────────▶ retiring ───────────────▶ ended
//	            QueueKept ◀───────────────── │      ▲ nothing left
//	                             QueueEnding └▶ ending
//
// recovering: recovered, mail is parked. closing, before retiring: a command deletes the queue, its dead letters are sent
// once more. retiring: the vhost decides. Mail is parked in these phases. ending: the queue is unpublished and sends the
// messages that must arrive elsewhere (LEASE-14), also after a restart. ended: its mailbox is closed and emptied.
//
// One timer serves all deadlines: of each ready message, of each delivery (consumer timeout), of the next attempt to
// send dead letters that no target took, of the next attempt to read contents, and of the lease. Expiry is eager, at
// any position (wheel); strict mode looks at the head only. Operations on many messages (expiry, overflow, new
// deadlines, trims) take several turns of messages.TurnLimit; so does a command about more than workLimit messages
// (work.go), and mail from peers waits until it ends. All deadlines are in the broker's time; dates that enter or leave
// are converted to dates of the wall clock (walltime.go, ADR 19).
//
// A restart loses unstored messages, and the consumers of unacked deliveries, which are requeued as redelivered.
// Deadlines that a policy changed follow from the settings and the time of each record. A panic cancels the consumers.
// After a failure of the journal the queue refuses messages that have to be stored, continues with the messages it has,
// and drops none.
package queue
