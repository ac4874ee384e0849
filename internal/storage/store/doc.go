// Package store is the interface between durable queues and the journal of their decisions (ADR 14).
//
// Owns: the interface Journal and its records. Implementations: store/memory completes asynchronously in batches and
// keeps nothing unless asked; store/segment is the log on disk.
//
// A queue's durable state changes only by records of a Kind. Each carries the time of its decision, so that replaying
// them always gives the same state. Numbers in records are the queue's own sequence numbers, which survive truncation
// unchanged.
//
// States: a record is appended, then either durable or failed, never both; the
// done function is called once per Append, in the order of Appends of a queue.
//
// Deadlines: none; the caller of Append decides how long it waits.
//
// A restart loses: see the implementation. The memory journal loses everything.
package store
