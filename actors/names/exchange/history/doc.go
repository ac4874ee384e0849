// Package history keeps the last messages of a recent-history exchange, within limits, and returns them for new
// bindings.
//
// Owns: those messages, copied. It is the core of such an exchange's actor: it gets the time as a parameter, and
// imports no actor library and no clock.
package history
