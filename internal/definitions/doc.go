// Package definitions keeps the definitions of a broker (ADR 12): virtual hosts, users, permissions, exchanges,
// queues, bindings, policies, parameters.
//
// Owns: the interface Meta, which takes changes and loads what was stored, and its two implementations: Open keeps
// definitions in a file, NewMemory as long as the process lives. Both make the same changes to the same tables; they
// differ in what the tables stand in. The owner of an object while the broker runs (auth.Users, the virtual hosts,
// the policy registry, Parameters) stores a change here before it takes effect, and is given it back at the next
// start.
//
//	Apply ──line.go──▶ a group of changes ──change.go──▶ lines in tables
//	                    key.go: names ◀─▶ keys · record.go: values ◀─▶ records
//	Load  ◀──counts.go── all lines, counted and with their checksums right
//
// States: a change waits, is stored or refused, and is answered, in the order of the calls. Changes that arrive while
// a group is being stored form the next group, with one sync of the disk for all of it.
//
// Deadlines: none; the caller decides how long it waits.
//
// A restart loses: from the file, nothing that was answered without an error. The reason: a group is one bbolt
// transaction: bbolt writes changed pages where no live data is, syncs, and then writes one of two meta pages, which
// carry checksums, and syncs again; only then is the group answered. Killed before the second write counts, the file
// is as it was; after it, the group is there; partly written pages are never reached. The group is complete, as it is
// one transaction; a change of it that cannot be made is found out before anything of it is done (change.go,
// prepare). A new file gets its name once it is complete, and the name is synced before it is used.
//
// An error of the disk fails the group, and every later one: after a failed sync the contents of the disk are
// unknown. A full disk costs only the group.
//
// Bits that flip are found when the file is opened: every record has a checksum over its table, key and content, the
// lines are counted, and bbolt checks its pages. Then the broker does not start, rather than start with less.
package definitions
