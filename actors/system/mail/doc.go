// Package mail holds all mail that actors send each other: plain values that the sender never modifies after sending.
//
// Owns: the definitions of mail. One file per receiver: a Command may be refused and has one kind of receiver; a Query
// changes nothing; a Reply is named after its command and carries Err; an Event reports a fact.
//
// Every command that promises an answer embeds Request and implements Answerable: if its receiver has ended or failed,
// the actor that finds the mail answers it instead. So no actor waits for one that has ended (PRO-1), and the 30 s
// deadline of a waiting channel is only a safety net.
//
// States and deadlines: none; a mail is a value.
//
// A restart loses: all mail; promises to clients are in the journal.
package mail
