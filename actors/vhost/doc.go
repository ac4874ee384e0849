// Package vhost is the actor of one virtual host: the owner of its names.
//
// Owns: names to queues and exchanges, published as an immutable directory;
// which exchange may hold a binding to what; the matched policy of every queue
// and exchange; the incarnation counter. Queues and exchanges are its children.
//
// Takes: DeclareQueue DeleteQueue DeclareExchange DeleteExchange Bind Unbind
// from channels; ReleaseConnection from connections; ApplyPolicies from the
// policy registry; EndVHost from the root; QueueRetiring QueueDeleteRefused
// QueueAwake from its queues; ExchangeUnused BindingsForgotten ExchangeDeleteReply
// ExchangeConfigured TopologyReply from its exchanges; sweepOn stored fetched from
// itself. Sends: the answers to those, except that a queue itself answers what was
// forwarded to it, and an exchange what became an AddBinding or RemoveBinding,
// unless that is durable; QueueForgotten QueueKept Configure Wake to queues;
// VHostStarted to the registry.
//
// States of a queue here (an exchange has the same, retiring for deleting):
//
//	        DeleteQueue            QueueRetiring{Deleted}
//	live ───────────────▶ deleting ─────────────────────▶ forgetting ──▶ gone
//	 │  ◀───────────────                                     ▲
//	 │   QueueDeleteRefused                                  │
//	 └───────────────────────────────────────────────────────┘
//	    QueueRetiring, nothing forwarded that it has not seen
//
// What is durable is coming until its definition is stored; only then it is made
// and answered for. It is deleted from the store before it is forgotten, so that a
// crash leaves all of it or nothing. Bindings are stored side by side; an exchange
// is deleted when none of its own is under way.
//
// A durable queue that panics is coming again: its messages are read back, its
// bindings moved to the new actor, then it is woken. One that panics twice while
// that goes on is down: a stand-in refuses everything but its deletion. At the
// start it is the same for all that is stored, behind the policies (recover.go).
//
// A delayed exchange comes and goes with a queue of its own that holds its messages
// (holder.go): stored with it, in no directory, out of reach of clients and policies.
//
// A queue with dead-letter-queue gets one of the broker's making before it is there
// itself, or the policy is in force (dlq.go).
//
// Commands for a name that is not live are parked and run, in order, when it is
// live again or gone. While forgetting, the name is unpublished and every
// exchange with a binding to it is asked to forget it; an auto-delete exchange
// that ends by that is waited for (LEASE-8).
//
// The core (state) never waits: what goes on when exchanges or the store have answered
// is kept as a function. It is made of queues, exchanges, bindings, matcher and recovery,
// which own their state, and leaves mail, spawns and changes to the shell, in one order
// (outbox.go, ADR 45).
//
// Deadlines: none.
//
// A restart loses: everything, children included; its supervisor lets it go on
// with the state it has (Resume). A command that panics is answered with 541. A
// restart of the broker loses what is transient or exclusive, and bindings to it.
package vhost
