// Package schedule keeps the messages of one queue that are not to be had before their time (ADR 18): those of a queue
// with delayed-messages, and those that a delayed exchange holds.
//
// Owns: a backlog of their own, so that they are in nobody's way; the order of their times (dueindex); who has which
// message-id; the credit of release-rate. Of an entry the deadline is when it is due, and what links it with others that
// have the same message-id, by store.HashID, is where a ready message's wheel and its count of deliveries are.
//
// Deadlines: NextRelease says when the first may go.
//
// A restart loses nothing of what was written down: the queue adds it again.
package schedule
