// Package shovels keeps the parameters of components, and runs a shovel for each that defines one (ADR 52).
//
// Owns: the parameters while the broker runs (definitions.Parameters), and which shovels there are. Their actors are
// children of the root, and what they do is theirs.
//
// States: before Begin, and behind End, parameters are kept and no shovel runs.
//
// A change waits until it is stored; virtual hosts do not come and go meanwhile. A shovel that takes the place of
// another begins when that has left its connections. A restart loses nothing that was answered.
package shovels
