// Package grants keeps what the tokens of a connection's client are good for: whose rights count at which addresses of Azure Service Bus's entities, and
// until when.
//
// Owns: the grants of a connection, at most Most of them. One changes them, everybody reads them. A change costs the same however many there are.
//
// Deadlines: the ends of tokens, which are asked for; it knows no clock.
package grants
