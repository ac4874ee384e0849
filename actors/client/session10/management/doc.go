// Package management executes the requests to a session's node /management: an operation is executed as for a client of
// 0-9-1, and its reply becomes the answer.
//
// Owns: a request while it waits for a reply. The session sends its mail, and passes it the reply.
package management
