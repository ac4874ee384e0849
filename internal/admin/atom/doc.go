// Package atom reads and writes the XML of the administration API of Azure Service Bus: descriptions of entities and
// rules in entries and feeds of Atom. Elements are written in the order that .NET's client requires and are read in any
// order. It is pure.
//
//	read.go: what clients send · write.go: what they get · rules.go: both, of rules
//
// Bounds: a body has at most MaxBody bytes.
package atom
