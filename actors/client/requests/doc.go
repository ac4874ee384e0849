// Package requests translates a method about queues, exchanges and bindings into mail for the virtual host or a queue,
// and a successful reply into the answer for the client. It checks permissions.
//
// Owns: nothing. The sender of a Request numbers it and waits for the answer.
package requests
