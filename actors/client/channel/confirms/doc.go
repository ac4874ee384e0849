// Package confirms tracks which publishes of a channel are settled, and confirms them in as few frames as possible: one
// ack for all numbers up to the first gap, individual ones beyond it.
//
// Owns: the publish numbers, and for each one under way the number of queues that have not answered. It sends nothing:
// Append appends frames when the outbox has room, and PutOff stores the rest compactly.
//
// Deadlines: none. A restart loses everything, as the channel does.
package confirms
