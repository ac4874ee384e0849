// Package dialects has what differs between links of RabbitMQ's dialect and of Azure Service Bus's: targets, sources, settlement. The
// address of a link decides, once, when the link is attached (ADR 72).
//
// Owns: nothing.
package dialects
