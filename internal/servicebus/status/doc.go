// Package status keeps the disabled entities of Azure Service Bus, for all connections.
//
// Owns: the statuses other than Active, by virtual host and path. They are set by stored parameters of the component
// servicebus-entity (internal/storage/definitions). Reads use an immutable snapshot.
package status
