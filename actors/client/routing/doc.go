// Package routing routes the publishes of a channel to queues: it finds the route of each in the virtual host's
// snapshots, and collects one batch for each queue of a turn.
//
// Owns: the last route, which most publishers use repeatedly; the unsent batches, each of which retains the read with
// its messages; data about each queue, valid while the snapshot is the same.
//
// Sends: one Enqueue to each queue, when Flush is called.
//
// Deadlines: none. A restart loses the unsent batches; Release frees their resources.
package routing
