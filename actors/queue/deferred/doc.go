// Package deferred keeps the messages that a queue delivers only by number (DEFER-1).
//
// Owns: the set of these messages, by number, and their deadlines. In the backlog they are taken, so First does not
// return them.
//
// Deadlines: the messages' own.
//
// A restart loses no durable message: the journal marks them.
package deferred
