// Package progress notes, in a file beside the segments of a journal, how far the log was written. Recovery compares
// the note with what it finds, so that segments and batches missing at the end of the log are damage; nothing follows
// them in the log that would show it.
//
// Owns: the file progress in the journal's folder: two marks in turn, each in a sector of its own, so that one is intact
// after a crash.
//
// States: a mark only states what is durable already, and is never taken back. So a mark that a crash keeps, loses or
// replaces by an older one is never ahead of the log.
//
// Mail, deadlines: none. A restart loses marks that were not synced.
package progress
