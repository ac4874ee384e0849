// Package notices gathers what a turn of one queue has to say to the broker's counters and its log.
//
// Owns: what was not said yet. It knows no queue.
//
// Deadlines: none. What a turn that panics had to say is lost.
package notices
