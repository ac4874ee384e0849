// Package records gathers what a queue writes to its journal: the messages that are to survive, copies of others whose
// contents leave memory (Spill), and what became of both.
//
// Owns: the commit of the turn, those that are under way, and who waits for them. A Writer belongs to its queue's
// goroutine; a Commit that was handed over belongs to the journal until that is done with it.
//
// Sends, through its Outbox: the EnqueueReply of a commit that is done.
//
// Deadlines: none. What it has gathered is lost with a turn that panics, and whoever waits is told so.
package records
