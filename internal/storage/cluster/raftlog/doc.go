// Package raftlog keeps the log and the votes of a node of a cluster on disk (ADR 132).
//
// Owns: the folder raft/: NNNNNNNNNN.log, spare.log, vote.
//
// The log is a chain of groups, numbered without gaps: the entries stored by one call, written at once and synced before
// the call returns. A group begins at a page, so that it changes no sector of the group before it. A file has a header
// with its number, which seeds all sums: old bytes of a file that is used again are never taken for groups.
//
// After a crash, a group that is not whole with no later group behind it is the one that was being written: nobody was
// told that it is stored, and it is cut off. With a later group behind it, it was synced before that one was written:
// damage, and Open refuses (CLU-8). An entry replaces those from its index on: a group that begins at or before the last index is what a new
// leader sent instead of entries that were never committed. One that begins behind the next index follows a snapshot; what
// is before it is forgotten.
//
// The votes are in two pages of one file, both written and synced, one after the other, before a call returns. One readable
// page is enough; with none, a node could vote twice in a term, so that Open refuses.
//
// States: open, failed, closed. After an error of the disk nothing is stored any more.
//
// A restart loses: entries whose call has not returned.
package raftlog
