// Package vfs is the file system of the journal, so that tests can simulate power failures.
//
// Owns: the interfaces FS and File, OS (the real one), and Memory, which forgets at Crash what was not synced, and
// fails when told to.
//
// The guarantees to callers; Memory gives no others:
//
//   - Written bytes are durable when Sync of their file returned nil. Before that
//     a crash keeps, loses or tears them, 512 B at a time and in any order.
//   - A name (Create, Rename, Remove) is durable when SyncDir of the
//     folder it stands in returned nil. Before that a crash keeps or loses each of
//     them; a Rename is never seen half.
//   - A file's room is durable after Sync of the file, its name after SyncDir: a
//     crash may leave a new file shorter than its room, or without a name.
//   - An error of Sync or SyncDir means that what was not durable may never be,
//     even if a later call returns nil (ADR 14).
//
// All of it is safe for concurrent use; writes and reads of one file that overlap are the caller's to order.
//
// A restart loses: of OS, as above; of Memory, everything but what Crash keeps.
package vfs
