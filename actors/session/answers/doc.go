// Package answers keeps the answers of a node that the client has requested and has no credit for yet.
//
// Owns: waiting answers. Their user counts their bytes in the broker's intake (internal/budget).
//
// Deadlines: none. A restart loses the answers, and the session with them.
package answers
