// Package refusal returns the errors of a virtual host for declares, bindings and deletions, in RabbitMQ's words.
//
// Owns: nothing. Its functions get the objects that exist, and look nothing up.
package refusal
