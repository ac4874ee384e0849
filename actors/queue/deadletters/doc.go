// Package deadletters keeps the dead letters of one queue until the dead-letter actor has settled them (DL-31), and
// messages that forward-to moves on, which are not dead-lettered. It builds the mail for that actor.
//
// Owns: which messages of the queue's backlog these are, how many are under way, and when dead letters that no target
// took are retried. The actor adds x-death and detects cycles (actors/movers/republish).
//
// Sends, through its Outbox: DeadLetter to the dead-letter actor.
//
// Deadlines: Next returns when to call Retry.
//
// A restart loses the set: the messages are ready again, either past their deadlines or marked as redelivered.
package deadletters
