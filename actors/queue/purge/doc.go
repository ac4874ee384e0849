// Package purge removes messages of a queue on command: all of them, or some of the oldest.
//
// Owns: nothing.
package purge
