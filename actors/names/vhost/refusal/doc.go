// Package refusal returns the errors of a virtual host for declares, bindings and deletions, in RabbitMQ's words.
//
// Owns: nothing. Its functions are passed the existing objects, and do not look them up.
package refusal
