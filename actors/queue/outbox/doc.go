// Package outbox collects the mail of a queue's turn.
//
// Owns: mail not yet sent. An Outbox belongs to its queue's goroutine.
//
// Deadlines: none. After a panic the queue sends only what is still valid.
package outbox
