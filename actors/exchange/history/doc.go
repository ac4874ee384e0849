// Package history keeps the last messages of a recent-history exchange, within
// bounds, and says what of them a new binding gets.
//
// Owns: those messages, in memory of their own. The core of such an exchange's
// actor: it is given the time, and knows no actor and no clock.
package history
