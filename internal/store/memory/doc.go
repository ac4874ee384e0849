// Package memory is the journal of a broker without durability, and the twin that tests run queues on: it completes
// asynchronously, in batches after a delay, and fails on request.
//
// Owns: the batch that gathers while the one before is completing. With Keep it remembers the records of every queue,
// to be replayed in tests.
//
// States: open, closed.
//
// Deadlines: a batch is complete Delay after its first record.
//
// A restart loses: everything.
package memory
