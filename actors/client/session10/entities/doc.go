// Package entities implements links of Azure Service Bus's dialect: their targets and sources, the format of
// deliveries, and the settlement of messages.
//
// Owns: nothing.
package entities
