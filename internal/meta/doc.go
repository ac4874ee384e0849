// Package meta keeps the definitions of a broker (DESIGN §6, §10): virtual
// hosts, users, permissions, exchanges, queues, bindings, policies, parameters.
//
// Owns: the interface Meta, which takes changes and loads what was stored, and
// its two implementations: Open keeps definitions in a file, NewMemory as long
// as the process lives. Whoever owns a thing while the broker runs (auth.Users,
// the virtual hosts, the policy registry) stores a change here before it takes
// effect, and is given it back at the next start.
package meta
