// Package notices collects what a turn of one queue reports to the broker's counters and its log.
//
// Owns: reports that were not written yet. It does not know the queue.
//
// Deadlines: none. A turn that panics loses its reports.
package notices
