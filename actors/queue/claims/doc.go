// Package claims takes messages of one queue for an actor that moves them elsewhere.
//
// Owns: an answer while it is made. What was taken is held by the actor as by a channel (consumers), and is not marked as
// redelivered: it goes away, or back to its place as it was.
//
// Deadlines: none. A restart loses nothing: what was taken and not acknowledged is ready again.
package claims
