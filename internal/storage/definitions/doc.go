// Package definitions keeps the definitions of a broker (ADR 12): virtual hosts, users, permissions, exchanges,
// queues, bindings, policies, parameters.
//
// Owns: the interface Store, which stores changes and loads them, and its two implementations: Open keeps definitions
// in a file, NewMemory as long as the process lives. Both make the same changes to the same tables; they differ in
// where the tables are stored. The owner of an object while the broker runs (auth.Users, the virtual hosts, the policy
// registry, Parameters) stores a change here before it takes effect, and gets it back at the next start.
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
// transaction: bbolt writes changed pages to free places, syncs, then writes one of two meta pages, which have
// checksums, and syncs again; only then is the group answered. After a crash before the second write is complete, the
// file has its old contents; after a later one, the group is stored; partly written pages are never reached. The group
// is atomic, as it is one transaction; a change that cannot be made is detected before any of it is made (change.go,
// prepare). A new file gets its name once it is complete, and the name is synced before it is used.
//
// An error of the disk fails the group, and every later one: after a failed sync the contents of the disk are unknown.
// A full disk fails only the group.
//
// Flipped bits are found when the file is opened: every record has a checksum over its table, key and content, the
// lines are counted, and bbolt checks its pages. In that case the broker refuses to start, rather than start with
// definitions missing.
package definitions
