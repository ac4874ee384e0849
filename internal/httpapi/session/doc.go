// Package session has the sessions of users who have logged in with a form: a random token stands for name and password in
// the requests that follow.
//
// Owns: the table of all sessions. It is told the time and asks nobody. Of a token it keeps the hash, so that who reads the
// memory of the broker gets into no session.
//
// Deadlines: a session ends 2 h after it was used last, and 12 h after it began. What else ends it (its user is deleted, has
// another password or no business here any more) is for whoever asks to see (rest).
//
// Holds: 1,000 sessions, 20 of one user; the one that was not used for longest makes room.
//
// A restart loses all of it: everybody logs in anew.
package session
