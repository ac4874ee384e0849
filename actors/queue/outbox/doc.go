// Package outbox gathers the mail of a queue's turn.
//
// Owns: the mail that was not sent yet. An Outbox belongs to its queue's goroutine.
//
// Deadlines: none. A turn that panics sends only what its queue says is still true.
package outbox
