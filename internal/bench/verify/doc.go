// Package verify keeps book of what comes out of a queue: which messages of which producer, how often, and in which
// order for each consumer. It is pure but for a lock.
//
// Holds: for a producer a bit for each number from the first that is missing to the last that came, at most Window of
// them. A number still missing when the window is full counts as lost.
package verify
