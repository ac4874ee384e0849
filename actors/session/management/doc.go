// Package management runs the requests to a session's node /management: what is wanted is done as a client of 0-9-1 would have it done, and
// the reply becomes the answer.
//
// Owns: a request while it waits for a reply. The session sends its mail, and brings the reply.
package management
