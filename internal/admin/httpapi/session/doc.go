// Package session keeps the sessions of users who have logged in with a form: a random token replaces name and password
// in later requests.
//
// Owns: the table of all sessions. The caller passes the time. It keeps only hashes of tokens, so that the broker's
// memory does not reveal tokens.
//
// Deadlines: a session ends 2 h after it was used last, and 12 h after it began. The caller (rest) checks for other
// ends: the user was deleted, has another password, or has lost the tags.
//
// Holds: 1,000 sessions, 20 of one user; the least recently used session makes room.
//
// A restart loses all of it: all users have to log in again.
package session
