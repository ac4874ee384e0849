// Package exchange is the exchange actor: the owner of the bindings of one
// exchange.
//
// Owns: the routing table. Every change makes a new immutable one, which is
// published on the exchange's topology.Exchange; publishers read it there and
// never enter this actor's mailbox (ADR 6), unless it is a recent-history exchange: one
// that owns its last messages as well (history, ADR 55).
//
// Takes, all from its vhost: AddBinding RemoveBinding ForgetDestination
// MoveDestination ConfigureExchange RetireExchange. Sends: TopologyReply to whoever asked for
// the binding; BindingsForgotten ExchangeConfigured ExchangeDeleteReply
// ExchangeUnused to the vhost. Every answer is sent after the new table is
// published (PRO-4). A recent-history exchange takes Enqueue from whoever routes, and for a
// new binding sends Enqueue to the queue, or DeadLetter to the dead-letter actor for another
// exchange; EnqueueReply DeadLetterReply come back, and bindings wait for that (keeper.go).
//
// States: live, then retired: the table is empty, the mailbox is closed and what
// was left in it is answered. The vhost alone decides when, so that a Bind under
// way is never lost: an exchange that is no longer used says so and is asked to
// retire behind what the vhost had sent before.
//
// Deadlines: none.
//
// A restart loses: all bindings, and what is kept; its supervisor lets it go on with the state it
// has (Resume), as a table is changed in one step or not at all.
package exchange
