// Package config holds the configuration of a session: what it shares with its connection, and the values of the
// client's begin.
//
// Deadlines: none. A restart loses nothing.
package config
