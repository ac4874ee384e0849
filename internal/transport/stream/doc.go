// Package stream reads and writes the socket of one connection, independent of its protocol: Reader reads it for a
// Protocol, through an Input, into chunks charged to the connection's credit, and waits for credit and alarms; Writer
// writes an outbox to it, Patient is a socket for TLS, WatchPeer reports that the peer has gone.
//
// Owns: only what it is given; one goroutine reads, one at a time writes.
//
// Deadlines: a peer that reads nothing for Writer's Timeout, measured while the process runs, is lost (ADR 24, 33).
package stream
