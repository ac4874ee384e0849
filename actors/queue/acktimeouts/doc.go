// Package acktimeouts keeps when the unacknowledged deliveries of one queue have to be settled, the consumer timeout
// (ADR 10).
//
// Owns: the deadline of each such delivery, and a wheel of them. The wheel goes by the links of the messages' entries,
// which are free while a message is not ready.
//
// Deadlines: Next says when to call Advance. What the machine sleeps is held against nobody: Postpone.
//
// A restart loses everything: what was unacknowledged is ready again.
package acktimeouts
