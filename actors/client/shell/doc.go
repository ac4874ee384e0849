// Package shell has the parts that the shells of channels and sessions share: the timer of the request that waits for its answer,
// the watches of queues, and the release of mail that is no longer handled.
//
// Owns: the timer.
package shell
