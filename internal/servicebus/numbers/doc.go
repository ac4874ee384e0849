// Package numbers translates sequence numbers of messages: queues count in ranges, one for each start of the broker
// (ADR 28), while clients of Azure Service Bus see numbers that begin with 1 for each entity (SBE-18).
//
// Owns: nothing; the functions are pure.
package numbers
