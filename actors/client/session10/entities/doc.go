// Package entities executes the requests to the nodes of Azure Service Bus's entities. It has the format of the entities'
// deliveries, and converts settlements of their messages.
//
// Owns: nothing.
package entities
