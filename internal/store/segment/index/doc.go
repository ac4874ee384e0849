// Package index has the live messages of each segment of the journal, with the marks that they have: delivered,
// released, returned, scheduled anew. A checkpoint is the index on disk.
//
// Owns: Index, with a Set for each queue and segment, 4 bits a message at least; the file that the next checkpoint is
// written to. Segment is what the journal knows of one file, shared by all its parts, each field under the lock that
// is named there.
//
// Mail, states, deadlines: none; the caller has locked the log.
//
// A restart loses nothing: the newest checkpoint and what the log says behind it give the same index.
package index
