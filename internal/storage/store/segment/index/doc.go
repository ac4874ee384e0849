// Package index records the live messages of each segment of the journal and their marks: delivered, released,
// returned, rescheduled, deferred, postponed. A checkpoint is the index on disk.
//
// Owns: Index, with a Set for each queue and segment, 4 bits a message at least; the file that the next checkpoint is
// written to. Segment is the journal's data about one file, shared by all its parts, each field under the lock named
// there.
//
// Mail, states, deadlines: none; the caller has locked the log.
//
// A restart loses nothing: the newest checkpoint and the log after it give the same index.
package index
