// Package vhost is the actor of one virtual host: the owner of its names.
//
// Owns: names of queues and exchanges, published as an immutable directory; which exchanges may have a binding to
// which destinations; the matched policy of every queue and exchange; the incarnation counter. Queues and exchanges
// are its children.
//
// Takes: DeclareQueue DeleteQueue AwaitQueue DeclareExchange DeleteExchange Bind Unbind from channels;
// ReleaseConnection from connections; ApplyPolicies from the policy registry; EndVHost from the root; AwaitIdle from a
// node that stops; QueueRetiring QueueHeldUp QueueCrashed QueueDeleteRefused DeleteQueueReply ActivateReply from its queues;
// ExchangeUnused ForgetDestinationReply RetireExchangeReply ConfigureExchangeReply TopologyReply from its exchanges; sweepOn
// stored fetched PeerGone from itself. Sends: the answers to these, except that queues answer forwarded commands, and
// exchanges answer commands that became an AddBinding or RemoveBinding, unless durable; QueueForgotten QueueKept QueueEnding
// Configure Wake to queues; VHostStarted to the registry.
//
// States of a queue in this actor (an exchange has the same, with retiring instead of deleting):
//
//	        DeleteQueue            QueueRetiring{Deleted}
//	live ───────────────▶ deleting ─────────────────────▶ forgetting ──▶ gone
//	 │  ◀───────────────                                     ▲
//	 │   QueueDeleteRefused                                  │
//	 └───────────────────────────────────────────────────────┘
//	    QueueRetiring, nothing forwarded that it has not seen
//
// A queue that retires with messages to be sent is first stored as ending and unpublished (ending.go). Then it has no
// bindings, and clients can only delete it; it retires again when it has sent them (LEASE-14).
//
// A durable object is coming until its definition is stored; only then is it created and the command answered. It is
// deleted from the store before it is forgotten, so that after a crash it exists completely or not at all. Bindings are
// stored concurrently; an exchange is deleted when no change of its bindings is under way.
//
// A durable queue that panics becomes coming again: its messages are read back, its bindings moved to the new actor,
// then it is woken. If it panics twice before it is live, it is down: a placeholder refuses all commands except
// deletion. The start of the broker does the same for all stored objects, after the policies (recover.go).
//
// A delayed exchange has its own queue that holds its messages (holder.go). This queue is created, stored and deleted
// with the exchange, is not in the directory, and cannot be reached by clients or policies.
//
// A queue with dead-letter-queue gets that queue from the broker before the queue itself is created, or before the
// policy is in force (dlq.go).
//
// Commands for a name that is not live are parked and run, in order, when it is live again or deleted. While
// forgetting, the name is unpublished, every exchange with a binding to it is asked to forget it, and the end of
// auto-delete exchanges that end as a result is awaited (LEASE-8).
//
// The core (state) never blocks: continuations after answers of exchanges or the store are kept as functions. It
// consists of queues, exchanges, bindings, matcher and recovery, which own their state, and leaves mail, spawns and
// changes to the shell, in a single order (effects.go, ADR 45).
//
// Deadlines: none.
//
// A restart loses: everything, children included; its supervisor resumes it with its current state (Resume). A command
// that panics is answered with 541. A restart of the broker loses transient and exclusive objects, and bindings to
// them.
package vhost
