// Package vfs is the file system of the journal, so that tests can simulate power failures.
//
// Owns: the interfaces FS and File, OS (the real one), and Memory, which forgets unsynced changes at Crash, and fails
// when told to.
//
// The guarantees to callers; Memory gives no others:
//
//   - Written bytes are durable once Sync of their file has returned nil. Before that a crash keeps, loses or tears
//     them, 512 B at a time and in any order.
//   - A name (Create, Rename, Remove) is durable once SyncDir of its folder has returned nil. Before that a crash keeps
//     or loses each of them; a Rename is atomic.
//   - A file's room is durable after Sync of the file, its name after SyncDir: a
//     crash may leave a new file shorter than its room, or without a name.
//   - An error of Sync or SyncDir means that pending changes may never become durable, even if a later call returns nil
//     (ADR 14).
//
// Everything is safe for concurrent use, but the caller orders overlapping writes and reads of one file.
//
// A restart loses: of OS, as above; of Memory, everything but what Crash keeps.
package vfs
