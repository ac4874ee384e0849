// Package sessions keeps the sessions of a queue: the messages of each in order, its lock and the lock's end, its
// state, and the consumers that wait for a session.
//
// Owns: the sessions with their states and locks, and the waiting consumers. The messages are in the queue's backlog,
// or scheduled.
//
// States of a session:
//
//	              Lock                    Free
//	unlocked ───────────▶ locked ─────────────────▶ unlocked, or removed: without messages and state
//	                       │   ▲ Renew                ▲
//	                       └───┘                      │ all its deliveries are requeued
//	                       └──lock runs out──▶ lost ──┘
//
// Deadlines: the ends of locks and of waits. Next says when to call Advance.
//
// A restart loses: locks, and waiting consumers. The content of a message or state names its session, so it has to be
// read first; until then no session is locked (Unknown, Know).
package sessions
