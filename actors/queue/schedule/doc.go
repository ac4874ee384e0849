// Package schedule keeps the scheduled messages of one queue (ADR 18), which has delayed-messages or belongs to a
// delayed exchange.
//
// Owns: a separate backlog; the order of due times (dueindex); an index of message-ids; the credit of release-rate.
// In an entry the deadline is the due time, and the fields for the wheel and the delivery count link messages with
// the same message-id, by store.HashID.
//
// Deadlines: NextRelease returns when the first may be released.
//
// A restart loses no message in the journal: the queue adds them again.
package schedule
