// Package unacked keeps the deliveries of a channel that the client has not acknowledged, by delivery tag.
//
// Owns: the tags, what each stands for, the channel's common limit (package qos), and what queues are to be told of
// settlements at the end of the turn.
//
// Sends: Settle to queues, when it is told to Flush.
//
// A delivery that its queue took back (ADR 10) is late: its tag stays valid and counts for no limit, and settling it is
// left to the queue to ignore.
//
// Deadlines: none. A restart loses everything; the queues have what nobody acknowledged (PRO-7).
package unacked
