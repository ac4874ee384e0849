// Package routing takes the publishes of a channel to their queues: it finds the route of each in the virtual host's
// snapshots, and gathers one batch for each queue of a turn.
//
// Owns: the last route, which most publishers use again; the batches that were not sent yet, each of which retains the
// read that its messages are in; what it knows of each queue while the snapshot is the same.
//
// Sends: one Enqueue to each queue, when Flush is called.
//
// Deadlines: none. A restart loses the batches that were not sent; Release gives back what they hold.
package routing
