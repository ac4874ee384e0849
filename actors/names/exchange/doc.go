// Package exchange is the exchange actor: the owner of the bindings of one exchange.
//
// Owns: the routing table. Every change creates a new immutable table, which is published on the exchange's
// topology.Exchange; publishers read it there and send no mail to this actor (ADR 6), unless it is a recent-history
// exchange, which also owns its last messages (history, ADR 55).
//
// Takes, all from its vhost: AddBinding RemoveBinding ForgetDestination MoveDestination ConfigureExchange
// RetireExchange. Sends: TopologyReply to the sender of the binding command; ForgetDestinationReply ConfigureExchangeReply
// RetireExchangeReply ExchangeUnused to the vhost. Every answer is sent after the new table is published (PRO-4). A
// recent-history exchange takes Enqueue from routing actors, and for a new binding sends Enqueue to the queue, or
// DeadLetter to the dead-letter actor for another exchange; EnqueueReply or DeadLetterReply come back, and bindings
// wait for these (keeper.go).
//
// States: live, then retired: the table is empty, the mailbox is closed, and the mail left in it is answered. Only the
// vhost decides when, so that a concurrent Bind is never lost: an exchange that is no longer used reports this, and the
// vhost asks it to retire, after its earlier mail.
//
// Deadlines: none.
//
// A restart loses: all bindings, and kept messages; its supervisor resumes it with its current state (Resume), since a
// table changes in one step or not at all.
package exchange
