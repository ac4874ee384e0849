// Package transactions keeps the messages and settlements of a session for its connection's transactions until these
// are discharged [ADR 84].
//
// Owns: the messages, copied and counted in the broker's intake (internal/transport/budget), and the deliveries, removed from
// the unacked ones.
//
// Deadlines: none; the connection keeps the deadlines of transactions. A restart loses uncommitted work; the queues
// have the unsettled messages.
package transactions
