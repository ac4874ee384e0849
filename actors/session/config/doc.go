// Package config has what a session is made of: what it shares with its connection, and what the client's begin says.
//
// Deadlines: none. A restart loses nothing.
package config
