// Package sessions keeps the messages of a queue by their sessions: which session each is of, in what order they stand in it, who has locked
// a session and until when, who waits for one, and what receivers have noted down of it.
//
// Owns: the sessions with their states, locks, and those who wait. The messages are in the queue's backlog, or scheduled.
//
// The states of a session:
//
//	              Lock                    Free
//	nobody's ───────────▶ locked ─────────────────▶ nobody's, or forgotten: without messages and state
//	                       │   ▲ Renew                ▲
//	                       └───┘                      │ all that its holder had is back
//	                       └──lock runs out──▶ lost ──┘
//
// Deadlines: the ends of locks and of waits. Next says when Advance is to be called.
//
// A restart loses: locks, and who waits. Of messages and states the contents tell the session, which are read for that; until then none is
// locked (Unknown, Know).
package sessions
