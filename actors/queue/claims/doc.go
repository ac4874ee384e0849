// Package claims takes messages of one queue for an actor that moves them elsewhere.
//
// Owns: an answer in progress. The actor holds the claimed messages as a channel would (consumers). They are not marked
// as redelivered: they are either removed or returned unchanged to their places.
//
// Deadlines: none. A restart loses nothing: claimed messages that were not acknowledged are ready again.
package claims
