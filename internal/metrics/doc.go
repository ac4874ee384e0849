// Package metrics has the counters that monitoring reads and that exist nowhere else: the numbers of all queues added
// up, histograms, and counts of the messages published on channels.
//
// Owns: Sums, to which each queue tells at the end of a turn by how much its numbers have changed, so that nobody has
// to ask every queue; Histogram, which many write; Published, which belongs to one channel.
//
// Takes no mail and sends none, has no states and no deadlines. Writing takes a few atomic additions for a turn,
// whatever the number of messages, and no lock and no memory. A restart loses all of it.
package metrics
