// Package shovels keeps the parameters of components, and runs a shovel for each that defines one (ADR 52).
//
// Owns: the parameters while the broker runs (definitions.Parameters), and which shovels there are. Their actors are
// children of the root.
//
// States: before Begin, and after End, parameters are kept and no shovel runs.
//
// A change waits until it is stored; until then virtual hosts are neither added nor removed. A shovel that replaces
// another starts when the old one has closed its connections. A restart loses no answered change.
package shovels
