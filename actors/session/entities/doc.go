// Package entities tells what a session does on links of Azure Service Bus's dialect: where they lead, what their receivers are told, and what
// becomes of messages that those settle.
//
// Owns: nothing.
package entities
