// Package transfers writes messages as transfers of a session, as many as they take in frames of the size that the client takes.
//
// Owns: the message in hand, of which some is not written.
//
// Deadlines: none. A restart loses the rest of a message, and with it the session.
package transfers
