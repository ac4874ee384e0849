// Package mailbox owns how mail reaches the broker's hot actors: a mailbox that can be closed without losing what is in
// it, and a dispatcher that runs many actors on a few goroutines. Both plug into protoactor:
//
//	d := mailbox.NewDispatcher(0)
//	m := mailbox.New(answerLate)
//	props := actor.PropsFromProducer(newQueue,
//		actor.WithMailbox(func() actor.Mailbox { return m }), actor.WithDispatcher(d))
//
// The promises of the mailbox:
//
//   - Mail of one producer is handled in the order in which it was posted. System mail passes user mail.
//   - Every user mail is handled, or returned by Close, or handed to the undeliverable handler: exactly once.
//   - A panic costs the mail that caused it; the rest waits for what the supervisor decides.
//   - Nothing is looked into: a type with GetMessages is one mail, and nil is a mail like others.
//
// protoactor drops, in silence, the user mail of an actor that has stopped. So an actor with this mailbox calls Close
// itself, last before it stops itself, and at the latest when it is told *actor.Stopping, and answers what Close returns.
// What an actor leaves that never calls it is handed to the undeliverable handler.
//
// protoactor has an actor that stops handle user mail until its last child has ended, and never stops a child that it
// makes meanwhile, so that neither ever ends. Here the mailbox is closed once an actor has been told to stop: from then on it
// gets system mail only, and makes nothing.
//
// protoactor keeps the address of a dead actor wherever somebody has watched or written to it, and with the address its
// mailbox. So the mailbox lets go of an actor that has stopped: a kept address costs some hundred bytes.
//
// The dispatcher has no idle cost but its parked goroutines. A hop from actor to actor costs a fifth of a microsecond,
// where starting a goroutine per hop, as protoactor does, costs three (BenchmarkPingPong). After 32 mails an actor goes to
// the end of the run queue, so that none that always has mail starves others. Who has read a socket takes part (Carry), so
// that a message that comes alone wakes nobody (ADR 56).
//
// An actor on this dispatcher must never block: no waiting for replies, files, sockets or timers, and no lock that is held
// across any of these. With two workers two blocked actors are a stopped broker. An actor that has to block keeps
// protoactor's own dispatcher.
//
// # States
//
//	New ──RegisterHandlers, Start──▶ idle ◀──▶ scheduled ──▶ running
//	                                   └───── suspended ◀──────┘        after a panic, until the supervisor resumes
//	Close, from any of them: user mail ends, system mail goes on.
//
// # Restart
//
// A restarted actor keeps its mailbox and all mail behind the one that panicked. A closed mailbox stays closed.
package mailbox
