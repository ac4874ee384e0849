// Package records collects the records that a queue writes to its journal: stored messages, copies of others whose
// contents are paged out (Spill), and later changes of both.
//
// Owns: the commit of the turn, the commits under way, and the senders that wait for them. A Writer belongs to its
// queue's goroutine; a Commit belongs to the journal from HandOver until its end.
//
// Sends, through its Outbox: the EnqueueReply of a finished commit.
//
// Deadlines: none. A turn that panics loses its records, and senders that wait for them get an error.
package records
