// Package work lets a command of one queue touch more messages than one turn may: it goes on in further turns, and mail
// that comes behind it waits, so that nobody sees half of it.
//
// Owns: the work and the mail that waits.
//
// Deadlines: none; the queue takes a turn at once while there is work. A restart loses both: whoever waits is told.
package work
