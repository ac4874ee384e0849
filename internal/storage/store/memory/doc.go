// Package memory is the journal of a broker without durability, and the journal of queues in tests: it completes
// asynchronously, in batches after a delay, and fails on request.
//
// Owns: the batch being filled while the previous one completes. With Keep it remembers the records of every queue, to
// be replayed in tests.
//
// States: open, closed.
//
// Deadlines: a batch is complete Delay after its first record.
//
// A restart loses: everything.
package memory
