// Package transfers writes messages as transfers of a session, as many as necessary for the client's frame size.
//
// Owns: the current message, which is partly written.
//
// Deadlines: none. A restart loses the rest of a message, and the session with it.
package transfers
