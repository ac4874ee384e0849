// Package output writes a channel's output into the connection's outbox, in order, and keeps output that does not fit.
//
// Owns: all output that waits for room (ADR 24), the consumers' windows, the channel's share of the connection's
// waiting replies, and its place among the connection's gets.
//
// Sends: Grant to queues as their deliveries are written.
//
// Output stays in order except for confirms, which are written as soon as there is room. While an answer to the client
// waits, no input of the client is processed.
//
// Deadlines: none. A restart loses everything; unacked messages are with the queues (PRO-7).
package output
