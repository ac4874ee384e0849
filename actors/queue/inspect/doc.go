// Package inspect shows what is in one queue and changes nothing: its messages, unsettled deliveries, scheduled messages
// and consumers.
//
// Owns: answers that are being made. What they are about belongs to the queue, which reads from the journal what they
// need.
//
// Deadlines: none. A restart loses the answers.
package inspect
