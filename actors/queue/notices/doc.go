// Package notices collects what a turn of one queue reports to the broker's counters and its log.
//
// Owns: reports not yet written. It does not depend on the queue.
//
// Deadlines: none. A turn that panics loses its reports.
package notices
