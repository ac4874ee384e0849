// Package mail holds every message that actors send each other: plain values
// that their sender never touches again.
//
// Owns: the vocabulary of the actors. One file per receiver: a
// Command may be refused and has one kind of receiver; a Query changes nothing;
// a Reply is named after its command and carries Err; an Event is a fact.
//
// Every command that promises an answer embeds Request and implements
// Answerable: when its receiver is gone or has failed, whoever finds the mail
// answers it in the receiver's place. So nobody waits for the dead
// (PRO-1), and the 30 s deadline of a waiting channel is only a safety net.
//
// States and deadlines: none; a mail is a value.
//
// A restart loses: all mail; the journal holds what was promised.
package mail
