// Package tokens executes requests to $cbs: it checks tokens, and passes them to the connection.
//
// Owns: nothing; Node is what a request needs of its session.
package tokens
