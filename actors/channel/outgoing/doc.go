// Package outgoing collects the mail that a channel or session sends, and the actors that it watches, until its turn ends.
//
// Owns: what is collected. The actor's shell sends it.
package outgoing
