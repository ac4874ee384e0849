// Package outgoing collects the mail that a session sends, and the actors that it watches, until its turn ends.
//
// Owns: what is collected. The session's shell sends it.
package outgoing
