// Package told has what a session of AMQP 1.0 tells of itself as events.
//
// Owns: nothing. Deadlines: none.
package told
