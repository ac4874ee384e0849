// Package expiry says when the messages of one queue expire, and which have.
//
// Owns: the wheel of the ready messages with a deadline, and how far a sweep over deadlines that changed has come. The
// messages are in the queue's backlog, which it changes only by their deadlines.
//
// Deadlines: Next says when Advance is to be called. Expiry is eager, at any position; strict mode looks at the head
// only: then the wheel stands still, and only tells what is ahead (ahead.go).
//
// A restart loses the wheel: messages are added again.
package expiry
