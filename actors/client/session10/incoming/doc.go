// Package incoming handles the messages that a client sends on a link: credit, deliveries in parts, and the checks
// before a message is routed.
//
// Owns: incomplete deliveries, which are counted in the broker's intake (internal/transport/budget).
//
// Deadlines: none. A restart loses incomplete deliveries.
package incoming
