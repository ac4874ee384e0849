// Package requests says what a method about queues, exchanges and bindings asks of the virtual host or of a queue, and
// what the client is told when that has succeeded. Permissions are checked on the way.
//
// Owns: nothing. Whoever sends a Request numbers it and waits for the answer.
package requests
