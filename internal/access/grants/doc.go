// Package grants keeps the grants of the tokens of a connection: the user whose permissions apply at each address of
// Azure Service Bus's entities, and the time of expiry.
//
// Owns: the grants of a connection, at most Max. One goroutine changes them, any goroutine may read them. The cost of a
// change does not depend on their number.
//
// Deadlines: the expiries of tokens, which callers query; it has no clock.
package grants
