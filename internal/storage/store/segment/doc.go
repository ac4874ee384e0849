// Package segment is the journal on disk: one log for all queues, in files of 64 MiB, with one group commit (ADR 14).
// Below it: format encodes the files, index records live messages and checkpoints, recovery reads a folder, spare keeps
// files for the next segments, progress notes how far the log was written.
//
// Owns: the folder journal/ (NNNNNNNNNN.segment, spare-N, checkpoint-N, next-checkpoint, progress), the index of the
// live messages of each segment, and the copies of damaged files in quarantine/.
//
// Mail: none. Append queues records; a writer encodes them into a batch, writes and syncs it and calls done, while a
// second goroutine encodes the next, and the early writer puts what there is of it into the file (DUR-5, ADR 103). A
// keeper writes checkpoints, frees and compacts segments; a stock keeps spare files ready.
//
// Length: at most four times the live bytes of the log and nine segments, without spare files (2, up to 8 while it
// grows fast); see compact.go. Moves are encoded ahead of waiting records; the last spare file is reserved for them, and
// next-checkpoint has room for a checkpoint, so segments can be freed on a full disk; else any append may use that file.
//
// The crash argument.
//
//  1. The log is a chain of batches, numbered without gaps. Batch n+1 is synced when batch n is durable, also across
//     segments; it is written then or, in the same segment, when batch n is in the file: with a mark in its head while
//     batch n may not be durable. So an incomplete batch with nothing valid after it, except the next one with that mark,
//     is the one that was being written: no done was called for it, and cutting it off, with the next one, loses nothing.
//     Any other incomplete batch with a higher number after it was durable: damage. Damage is reported, its file is
//     copied to quarantine/, and its readable records are applied. The end of the log is noted in the file progress
//     (ADR 106): the newest segment, synced before its first batch is written, and the last durable batch, in marks
//     written after its sync and not synced themselves. So a mark is never ahead of the log, and missing batches before
//     a mark are damage, too.
//  2. Sums are CRC32C, seeded with the number of the segment and a random salt of its process and keyed with the offset:
//     old bytes of a recycled file, or bytes in the wrong place, are never taken for records.
//  3. A batch never changes a sector of the batch before it (a sector of 512 B is written whole or not at all). Batches
//     end in zeros up to the page; the next one begins there. Before its sync a batch may be written several times,
//     longer each time, the new records first and then the head, which a kill does not tear within a page.
//  4. A segment gets its header, synced, and then its name (rename, sync of the folder) before its first batch is
//     written. So a torn header is damage.
//  5. A checkpoint holds the index, with the names of queues (written like messages, ahead of these; they live in no
//     segment), as of the end P of a batch, and gets its name after both that batch and the checkpoint are synced. It
//     is written to the file of an older checkpoint, whose name was removed, and that synced, before. Recovery loads
//     the newest complete checkpoint and replays the log after P. Two are kept; replay from the older one, at O, gives
//     the same result, because segments from O on are never recycled.
//  6. A segment before O without live messages is recycled once a durable checkpoint lists it as free. The records that
//     removed its messages are after O or in both checkpoints, so no message returns. Without a complete checkpoint
//     everything is replayed: nothing is lost, but settled messages may return; this is reported.
//  7. Moving a straggler puts it again, marked as moved; replay removes it from the old place. The old place is
//     recycled only by rule 6, so one of the two always exists. A move may overtake waiting records: it carries the
//     state of the message at the point where it is encoded, and records about the message encoded later apply to it.
//  8. After a crash the last segment is synced, so that the replayed records stay, and the log continues in a new
//     segment: torn bytes are never overwritten. After a clean Close it continues where it ended.
//  9. After an error of write or sync the state of the page cache is unknown: nothing is retried, and every unfinished
//     Append fails (fail-stop). Lack of room is the exception (DUR-4, ADR 101): the whole batch is written again from
//     memory, and its sync covers all of it; batches before it are durable. If the journal is closed before there is
//     room, its index is ahead of the log, so the last checkpoint is not written.
//
// States: open, full, failed, closed. Full means no room for another segment, on the disk or within the length limit, or
// for a batch in reserved room: appends wait, nothing fails.
//
// Deadlines: records without done are in the file after at most 5 ms and the writes in progress, and synced within
// Options.Lag (50 ms) and the sync in progress; a full disk is tried again every 200 ms;
// Close waits for neither pauses nor room.
//
// A restart loses: records whose done was not called, and Spills.
package segment
