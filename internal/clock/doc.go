// Package clock is the broker's one idea of time.
//
// Owns: the wall-clock reading taken when the broker started and the monotonic
// distance from it, to which the machine's sleep is added when Look notices it;
// once it is sharpened, the calls that are to come within 2 ms (ADR 21).
// Every actor of a broker reads the same Clock, so that two actors never
// disagree about what is due.
//
// States: none but what was noticed of the machine: how long it has slept, by how
// much its wall clock was set (Skew), and how long the process was paused.
//
// Deadlines: they are milliseconds of the broker's time, which is wall time as
// the broker started with it. An instant is rounded up when a deadline is
// computed from it and rounded down when it is compared with one, so nothing is
// ever early (TTL-31). Setting the machine's clock neither hastens nor delays
// what waits in memory (TTL-35); dates that come in or go out are moved by Skew.
// After a sleep the present leaps, and timers that were armed before are late:
// whoever called Look tells those who armed them (ADR 19). Waits for an answer are
// no deadlines: they count the time that the process ran (After, WithTimeout, ADR 33).
//
// A restart loses: what was noticed; a new broker takes a new reading.
package clock
