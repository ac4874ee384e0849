// Package temporary declares and deletes the temporary queues of a session's links (DEC-18).
//
// Owns: nothing. The session records the queue of each link.
package temporary
