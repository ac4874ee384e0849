// Package output writes what a channel tells its client into the connection's outbox, in order, and keeps what there is
// no room for.
//
// Owns: all that waits for room (ADR 24), the consumers' windows, the channel's share of the replies that wait in its
// connection, and its place among the connection's gets.
//
// Sends: Grant to queues, as their deliveries are written.
//
// Nothing that the client is told overtakes anything else, but for confirms: they go out when there is room, and what
// they were put off for goes on behind them. While an answer to the client waits, none of its input is run.
//
// Deadlines: none. A restart loses everything; what was not acknowledged is with the queues (PRO-7).
package output
