// Package lifecycle implements the states, timer and shutdown order that connections of both protocols share. It is
// embedded in the actors of actors/client/connection (AMQP 0-9-1) and actors/client/connection10 (AMQP 1.0).
//
// Owns: the state, the one timer, the heartbeats, the writer and its outbox, the channels or sessions by number, the
// alarm, and the order in which a connection ends. The embedding actor adds its protocol's frames (Protocol) and its
// reader: handshake, framing and distribution of the input.
//
// States:
//
//	starting ──handshake──▶ running ──end──▶ closing ──channels and exclusive──▶ closed ──▶ stopped
//	    └──────────── refused, silent or lost ────────────────queues are gone──────────────────┘
//
// Pulse has no effects: it gets counters and times, and reports whether a heartbeat is due and whether the peer is
// dead.
package lifecycle
