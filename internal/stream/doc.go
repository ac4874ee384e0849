// Package stream is the socket of one connection as bytes, whatever they mean: Reader reads it for a Protocol, by way
// of an Input, into chunks that are charged to the connection's credit, and waits for credit and alarms; Writer
// brings an outbox to it, Patient is a socket for TLS, WatchPeer reports that the peer has gone.
//
// Owns: nothing but what it is given; one goroutine reads, one at a time writes.
//
// Deadlines: a peer that reads nothing for Writer's Timeout of the time that the process runs is lost (ADR 24, 33).
package stream
