// Package store is the seam between durable queues and where they write down
// what they decided (ADR 14).
//
// Owns: the interface Journal and its records. Implementations live below:
// store/memory completes asynchronously in batches and keeps nothing unless
// asked; the segmented log on disk follows behind the same interface.
//
// A queue's durable state changes only by records: put, delivered, returned,
// remove, retire. Each carries the time of its decision, so that replaying them leads
// to the same state wherever and whenever it happens. Numbers in records are
// the queue's own sequence numbers, which survive truncation unchanged.
//
// States: a record is appended, then either durable or failed, never both; the
// done function is called once per Append, in the order of Appends of a queue.
//
// Deadlines: none; who appends decides how long it waits.
//
// A restart loses: what the implementation says. The memory journal: all.
package store
