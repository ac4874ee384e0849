// Package answers keeps the answers of a node that a client has asked for and gave no credit for yet.
//
// Owns: answers that wait. Their bytes count among what clients have begun (internal/budget), by who keeps them here.
//
// Deadlines: none. A restart loses the answers, and with them the session.
package answers
