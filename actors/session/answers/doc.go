// Package answers keeps the answers of a node that the client has requested but for which it has given no credit yet.
//
// Owns: waiting answers. The caller charges the client's unread output with them (internal/budget).
//
// Deadlines: none. A restart loses the answers, and the session with them.
package answers
