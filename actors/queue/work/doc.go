// Package work spreads a command that touches many messages of one queue over several turns. Later mail waits for its
// end, so that no half-finished state is visible.
//
// Owns: the work and the waiting mail.
//
// Deadlines: none; the queue takes a turn at once while there is work. A restart loses both; senders that wait get an
// answer.
package work
