// Package verify records the messages consumed from a queue: which messages of which producer, how often, and in which
// order for each consumer. It is pure except for a lock.
//
// Holds: for each producer a bit for each number from the first missing to the last received one, at most Window of
// them. A number still missing when the window is full counts as lost.
package verify
