// Package answers keeps the answers of a node that the client has requested but for which it has given no credit yet.
//
// Owns: waiting answers. The caller counts their bytes in the broker's intake (internal/budget).
//
// Deadlines: none. A restart loses the answers, and the session with them.
package answers
