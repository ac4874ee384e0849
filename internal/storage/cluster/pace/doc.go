// Package pace decides whether the disk of a leader is so much slower than the disks of the other nodes that another node should lead (CLU-37).
//
// Owns: the durations of a node's last writes, and since when a leader is slow.
//
// The leader writes an entry before the others get it: every confirm waits for the leader's disk, and then for the fastest disks of the others.
package pace
