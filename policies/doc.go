// Package policies owns the meaning of policies: reading one from JSON, checking it, deciding which queues and
// exchanges it applies to, and merging several sources for one object into settings. It also owns the rules for the
// arguments of a declaration, which are the other source of the same settings. Everything here is a pure function of
// its inputs or an immutable value; nothing here knows an actor, a clock or a disk.
//
// The path of one policy, in reading order:
//
//	JSON ──json.go──▶ values ──parse.go──▶ Policy ──set.go──▶ Set
//	                    │ keys.go, validate.go: keys and their values
//	                    │ pattern/: the expression on the object's name
//	Set.Effective(kind, name) ──effective.go──▶ Effective
//	arguments + Effective ──settings.go──▶ QueueSettings, ExchangeSettings
//
// arguments.go checks the arguments of a new queue, equivalent.go compares a redeclaration with what exists. term.go
// prints JSON values as Erlang terms (package erlang), because RabbitMQ's error texts contain them and some clients
// parse these.
//
// The rules are in docs/spec: POL-1 to POL-14 for policies, TTL-1 to TTL-9, LEASE-1 and LEASE-2, DL-2 to DL-8 for
// arguments and settings, DEC-1 to DEC-14 for declarations.
//
// Policies of equal priority (POL-1 leaves the order open): the one whose name
// comes first in byte order applies.
//
// Mail, states, deadlines: none. A restart loses nothing, since it has no state: the registry stores policies in their
// item form (Policy.MarshalJSON) and reads them back with Restore.
package policies
