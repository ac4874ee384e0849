// Package grants keeps the grants of the tokens of a connection: the user whose permissions apply at each address of
// Azure Service Bus's entities, and the time of expiry.
//
// Owns: the grants of a connection, at most Max. One changes them, everybody reads them. A change costs the
// same however many there are.
//
// Deadlines: the ends of tokens, which are asked for; it knows no clock.
package grants
