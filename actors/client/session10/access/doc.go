// Package access determines the rights at the addresses of Azure Service Bus's entities: the rights of the key that
// signed the token for an address, otherwise the rights of the user who logged in.
//
// Owns: nothing. It reads the connection's tokens (internal/access/grants).
package access
