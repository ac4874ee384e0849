// Package routefinder finds the queues that messages are routed to, for all actors that publish: channels, sessions, and those that
// republish and move messages.
//
// Owns: the router of one publisher, and its last route.
package routefinder
