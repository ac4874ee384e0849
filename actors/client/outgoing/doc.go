// Package outgoing collects the mail that a channel or session sends, and the actors that it watches, until its turn ends.
//
// Owns: the collected mail and watches. The actor's shell carries them out.
package outgoing
