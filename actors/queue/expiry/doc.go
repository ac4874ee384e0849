// Package expiry determines when the messages of one queue expire, and finds expired messages. It also has the lease of
// an unused queue (lease.go).
//
// Owns: the wheel of the ready messages with a deadline, and the progress of a sweep over changed deadlines. The
// messages are in the queue's backlog, where Expiry changes only their deadlines.
//
// Deadlines: Next returns when to call Advance. Expiry is eager, at any position. Strict mode looks at the head only:
// the wheel then does not advance, and only serves counts (ahead.go).
//
// A restart loses the wheel: messages are added again.
package expiry
