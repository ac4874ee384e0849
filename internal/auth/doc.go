// Package auth knows who may connect and what they may do.
//
// Owns: the users. Authenticator checks a SASL response, Permissions checks
// access to virtual hosts and to single queues and exchanges. Guest is both,
// for a broker with its one default user; Fixed is both for tests.
//
// Its values are read by connections and channels from their own goroutines, so
// every implementation is safe for concurrent use and answers without waiting.
//
// A restart loses: nothing.
package auth
