// Package deferred keeps the messages of a queue that are delivered only to who asks for their numbers (DEFER-1).
//
// Owns: which of the backlog's messages these are, in the order of their numbers, and their deadlines. They are taken there,
// so nobody finds them first.
//
// Deadlines: those of the messages.
//
// A restart loses nothing of durable messages: the journal has a mark of them.
package deferred
