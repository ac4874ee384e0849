// Package incoming takes the messages that come on a link of a session: credit, deliveries in parts, and what is checked before a message is routed.
//
// Owns: the parts of deliveries that have begun, which count among what clients have begun (internal/budget).
//
// Deadlines: none. A restart loses what has begun.
package incoming
