// Package access finds whose rights count at the addresses of Azure Service Bus's entities: those of the key that has signed the token for an address, else
// those of the login.
//
// Owns: nothing. It reads what the connection keeps (internal/servicebus/grants).
package access
