// Package acktimeouts keeps the deadlines for settling the unacked deliveries of one queue, the consumer timeout (ADR
// 10).
//
// Owns: the deadline of each such delivery, and a wheel of them. The wheel uses the links in the messages' entries,
// which are free while a message is not ready.
//
// Deadlines: Next returns when to call Advance. The time for which the machine sleeps does not count: Postpone.
//
// A restart loses everything: unacked messages are ready again.
package acktimeouts
