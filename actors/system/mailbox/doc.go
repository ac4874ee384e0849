// Package mailbox delivers mail to the broker's most frequently used actors: a mailbox that can be closed without
// losing its contents, and a dispatcher that runs many actors on a few goroutines. Both plug into protoactor:
//
//	d := mailbox.NewDispatcher(0)
//	m := mailbox.New(answerLate)
//	props := actor.PropsFromProducer(newQueue,
//		actor.WithMailbox(func() actor.Mailbox { return m }), actor.WithDispatcher(d))
//
// Guarantees of the mailbox:
//
//   - Mail of one producer is handled in the order in which it was posted. System mail overtakes user mail.
//   - Every user mail is handled, or returned by Close, or passed to the undeliverable handler: exactly once.
//   - A panic loses the mail that caused it; the rest waits for the supervisor's decision.
//   - Mail is not inspected: a type with GetMessages is one mail, and nil is a mail like any other.
//
// protoactor silently drops the user mail of an actor that has stopped. So an actor with this mailbox calls Close
// itself, right before it stops itself, and at the latest on *actor.Stopping, and answers the mail that Close returns.
// If an actor never calls it, its mail is passed to the undeliverable handler.
//
// In protoactor, a stopping actor handles user mail until its last child has ended, and children that it spawns until
// then are never stopped, so that neither ever ends. This mailbox is closed once its actor is asked to stop: from then
// on the actor gets only system mail, and spawns nothing.
//
// protoactor keeps the address of a stopped actor wherever another actor has watched it or sent it mail, and its
// mailbox with the address. So the mailbox drops its references to a stopped actor: a kept address costs some hundred
// bytes.
//
// An idle dispatcher costs only its parked goroutines. Passing a mail from actor to actor takes a fifth of a
// microsecond, whereas starting a goroutine for it, as protoactor does, takes three (BenchmarkPingPong). After 32 mails
// an actor goes to the end of the run queue, so that a busy actor does not starve others. The reader of a socket also
// runs actors (Carry), so that a single message wakes no other goroutine (ADR 56).
//
// An actor on this dispatcher must never block: no waiting for replies, files, sockets or timers, and no lock that is
// held across any of these. With two workers, two blocked actors stop the broker. An actor that has to block uses
// protoactor's own dispatcher.
//
// # States
//
//	New ──RegisterHandlers, Start──▶ idle ◀──▶ scheduled ──▶ running
//	                                   └───── suspended ◀──────┘        after a panic, until the supervisor resumes
//	Close, from any of them: user mail is no longer handled, system mail is.
//
// # Restart
//
// A restarted actor keeps its mailbox and all mail after the one that caused the panic. A closed mailbox stays closed.
package mailbox
