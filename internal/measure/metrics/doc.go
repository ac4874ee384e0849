// Package metrics provides the counters for monitoring that exist nowhere else: the sums of the numbers of all queues,
// histograms, and counts of the messages published on channels.
//
// Owns: Queues, to which each queue reports the changes of its numbers at the end of a turn, so that they are known
// without asking every queue; Lateness and SharedSpans, histograms with many writers; Spans,
// one of a single queue; Published, which belongs to one channel.
//
// Takes no mail and sends none, has no states and no deadlines. Writing takes a few atomic additions per turn,
// regardless of the number of messages, without locks or allocations. A restart loses all of it.
package metrics
