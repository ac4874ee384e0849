// Package tokens executes requests to $cbs: it checks tokens, and passes them on to the connection.
//
// Owns: nothing; the session's requirements are in Node.
package tokens
