// Package segment is the journal on disk: one log for all queues, in files of
// 64 MiB, with one group commit (ADR 14). Below it: format has what stands in a file, index
// what lives where and checkpoints, recovery what a folder holds, spare the next files.
//
// Owns: the folder journal/ (NNNNNNNNNN.segment, spare-N, checkpoint-N, next-checkpoint),
// the index of what lives in which segment, and the copies of damaged files in quarantine/.
//
// Mail: none. Append queues records; a writer encodes them into a batch, writes and
// syncs it and calls done, while a second goroutine encodes the next. A keeper
// writes checkpoints, frees and compacts segments; a stock keeps spare files ready.
//
// Length: at most four times the bytes that live in the log and nine segments, without
// spare files (2, up to 8 while it grows fast); compact.go says how. Moves are encoded
// ahead of what waits; the last spare file is theirs, and next-checkpoint has room for a
// checkpoint, so a full disk frees itself. If nothing can be freed, the file is for all.
//
// The crash argument.
//
//  1. The log is a chain of batches, numbered without gaps. Batch n+1 is written
//     when batch n is synced, also across segments. So whatever is not whole, and
//     has nothing valid behind it, is the one batch that was under way: no done was
//     called for it, and cutting it off loses nothing. Anything not whole with a
//     higher number behind it was durable once: that is damage. It is reported, its
//     file is copied to quarantine/, what can still be read of it is applied.
//  2. Sums are CRC32C, seeded with the number of the segment and a random salt of
//     its process and keyed with the offset: old bytes of a recycled file, or bytes in
//     the wrong place, are never taken for records.
//  3. A batch shares no sector with the next that it does not leave as it was (a
//     sector of 512 B is written whole or not at all). Batches end in zeros up to
//     the page; the next one begins there.
//  4. A segment gets its header, synced, and then its name (rename, sync of the
//     folder) before its first batch is written. So a torn header is damage.
//  5. A checkpoint holds the index, with the names of queues (written like messages, ahead
//     of these; they live in no segment), as of the end P of a batch, and gets its name
//     after that batch and itself are synced. It is written to a file that was an older
//     one: that has lost its name, synced, before. Recovery loads the newest whole one
//     and replays what is behind P. Two are kept; from the older one, at O, replay
//     gives the same, because segments from O on are never recycled.
//  6. A segment before O without live messages is recycled when a checkpoint says so
//     that is durable. The records that removed its messages lie behind O or are in both
//     checkpoints, so nothing returns. With no whole checkpoint at all everything is
//     replayed: nothing is lost, but what was settled may return; this is reported.
//  7. Moving a straggler puts it again, marked as moved; replay takes it out of the
//     old place. The old place is recycled by rule 6 only, so one of both is there. It
//     may overtake records that wait: it is for what lives where it is encoded, and what
//     they say of it comes behind it.
//  8. After a crash the last segment is synced, so that what was replayed stays, and
//     the log goes on in a new segment: no torn bytes are ever written over.
//     After a clean Close it goes on where it ended.
//  9. After an error of write or sync nothing is known about the page cache: nothing
//     is tried again, and everything not done fails (fail-stop).
//
// States: open, full, failed, closed. Full means no room for a next segment, on the disk
// or within the length: appends wait, nothing fails.
//
// Deadlines: what nobody waits for is written within Options.Lag (50 ms); a full
// disk is asked again every 200 ms; Close waits for no rest and no room.
//
// A restart loses: records whose done was not called, and Spills.
package segment
