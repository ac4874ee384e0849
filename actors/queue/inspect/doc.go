// Package inspect answers queries about one queue and changes nothing: its messages, unacked deliveries, scheduled
// messages and consumers.
//
// Owns: answers in progress. The objects belong to the queue, which reads contents from the journal for it.
//
// Deadlines: none. A restart loses the answers.
package inspect
