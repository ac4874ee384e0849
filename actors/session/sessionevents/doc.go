// Package sessionevents publishes the events of a session of AMQP 1.0.
//
// Owns: nothing. Deadlines: none.
package sessionevents
