// Package status keeps the disabled entities of Azure Service Bus, for all connections.
//
// Owns: the statuses other than Active, by virtual host and path. Parameters of the component servicebus-entity tell
// them (internal/definitions), which are stored. Questions are answered from an immutable snapshot.
package status
