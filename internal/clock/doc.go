// Package clock is the broker's one idea of time.
//
// Owns: the wall-clock reading taken when the broker started and the monotonic
// distance from it. Every actor of a broker reads the same Clock, so that two
// actors never disagree about what is due.
//
// States: none. A Clock is a value that never changes.
//
// Deadlines: they are wall-clock milliseconds. An instant is rounded up when a
// deadline is computed from it and rounded down when it is compared with one,
// so nothing is ever early (TTL-31). Because the wall clock is read only once,
// setting the machine's clock neither hastens nor delays what waits in memory
// (TTL-35).
//
// A restart loses: nothing; a new broker takes a new reading.
package clock
