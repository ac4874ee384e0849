// Package clock is the broker's time.
//
// Owns: the wall-clock reading taken when the broker started and the monotonic
// distance from it, to which the machine's sleep is added when Look detects it;
// with EnablePreciseTimers, the pending calls (ADR 21, ADR 61), several of
// which may be made together (ADR 144).
// Every actor of a broker reads the same Clock, so that two actors never
// disagree about what is due.
//
// A test clock (NewManual, CLK-1) is moved by its owner instead; what must not be moved uses Real (CLK-4).
//
// States: only what was read from the machine's clocks: how long the machine has slept, by how much
// its wall clock was set (Skew), and how long the process was paused.
//
// Deadlines: they are milliseconds of the broker's time, which is wall time as
// the broker started with it. An instant is rounded up when a deadline is
// computed from it and rounded down when it is compared with one, so nothing is
// ever early (TTL-31). Setting the machine's clock neither hastens nor delays
// messages in memory (TTL-35); dates that come in or go out are converted by Dates,
// which reads the machine's clocks when a date comes in.
// After a sleep Now advances, and timers that were armed before are late: the
// caller of Look notifies their owners (ADR 19). Waits for an answer are no
// deadlines: they count the time that the process ran (After, WithTimeout, ADR 33).
//
// A restart loses: the results of Look; a new broker takes a new reading.
package clock
