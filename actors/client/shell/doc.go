// Package shell is the actor of a channel or session: it passes mail to the core, sends the mail of its turns, keeps the timer of the
// request that waits for its answer and the watches of queues, and releases mail that is no longer handled.
//
// Owns: the timer.
package shell
