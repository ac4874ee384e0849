// Package clocks knows the time of a cluster on each of its nodes (CLU-9, ADR 135).
//
// Owns: what a node has heard about the cluster's time and about the other nodes' wall clocks.
//
// The time of a cluster is the time of the leader's broker. The leader puts a Stamp into its calls. A node keeps by how much its own
// clock is ahead of the stamps, at most: the smallest difference, which delays on the way only make larger, and which grows with
// its age by what clocks may drift. So a node's estimate of the cluster's time is never ahead of it. A new leader goes on with the best
// estimate among a majority.
//
// It is pure: callers tell it the times. Times of a node are by its own monotonic clock that includes sleep, in ns from any origin.
//
// Mail: none.
//
// States: a node has heard a leader (Follows), remembers one from before its process began (Remembers), or knows nothing.
//
// Deadlines: what was heard of a wall clock counts for Reach.
//
// A restart keeps: what Remember has returned.
package clocks
