// Package tokens runs requests to $cbs: a token is checked, and the connection keeps what it is good for.
//
// Owns: nothing; what the session asks for is in Node.
package tokens
