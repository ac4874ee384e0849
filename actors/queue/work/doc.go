// Package work spreads a command that touches many messages of one queue over several turns. Later mail waits for the
// end of the command, so that no half-finished state is visible.
//
// Owns: the work and the waiting mail.
//
// Deadlines: none; while there is work, the queue takes its next turn at once. A restart loses both; senders that wait
// get an answer.
package work
