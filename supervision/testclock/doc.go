// Package testclock moves a broker's test clock (CLK-1 to CLK-14).
//
// Owns: whose turn it is to move the clock; the file TEST-CLOCK, which holds a time that the clock has not passed yet.
//
// A move goes from deadline to deadline. After each it waits until nothing is under way: the dispatcher has no turn waiting or running, no
// work outside of the actors is open (package activity), and the dispatcher has scheduled no turn in between. All actors share one dispatcher,
// and a mailbox with mail always has a turn waiting or running, so that this is exact (ADR 130). It runs on the goroutine of whoever asked,
// which is no actor.
//
// Clients are outside: what they do of their own accord, and what is in their sockets, is not waited for, except that a step waits for the
// settlement of what it delivered, for as long as its grace.
package testclock
