// Package input holds the input of a channel or session that cannot be processed yet: what arrives while a request waits
// for its answer, and what is left when a turn ends.
//
// Owns: the phase, the numbers of requests, the request that waits, and parked input. A read chunk is retained by the
// parked read.
//
// Deadlines: none of its own. The shell (actors/client/shell) keeps a timer for the request that waits (Due).
package input
