// Package deadletters keeps the messages of one queue that ended by a reason that dead-letters, until the dead-letter actor
// has taken care of them (DL-31), and those that forward-to moves on, though they are none. It makes the mail for that
// actor.
//
// Owns: which of the messages in the queue's backlog those are, how many are under way, and when those that nobody took are
// tried again. x-death is made by the actor, as are cycles found (actors/deadletter).
//
// Sends, through its Outbox: DeadLetter to the dead-letter actor.
//
// Deadlines: Next says when Retry is to be called.
//
// A restart loses which they are: the messages are ready again, past their deadlines, or have been delivered before.
package deadletters
