// Package temporary declares and deletes the temporary queues of a session's links (DEC-18).
//
// Owns: nothing. The session knows which link has which queue.
package temporary
