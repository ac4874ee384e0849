// Package auth authenticates users and checks their permissions.
//
// Owns: Users, all users with their password hashes, tags and permissions, and the virtual hosts of these permissions.
// Authenticator checks a SASL response, Permissions checks access to virtual hosts, to single queues and exchanges, and
// to the routing keys of topic exchanges. Users is both.
//
// Connections and channels check often, from their own goroutines. So checks use an immutable snapshot, without
// waiting; expressions are compiled when they are set. A change makes the next snapshot, numbered by a revision, which
// the next check uses. Callers that cache answers compare Generation. The one observer sees every change before it
// takes effect and may refuse it.
//
// Guessing passwords is slow (throttle): each failed login is a debt of its user and its source, an address or an IPv6
// network, which decreases with time. Logins beyond a limit wait, at most 5 s, or are refused without a check. Other
// sources never wait for it, and a user who has logged in from a source before is delayed there only by guesses at its
// own name.
//
// A restart loses: changes that no observer has stored, and all debts.
package auth
