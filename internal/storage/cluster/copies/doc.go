// Package copies owns the data of a node of a cluster, and the copies of them that other nodes get.
//
// Owns: the folders replica-N, each with a journal and definitions, and the file snapshot.json, which names the one that counts.
//
//	Data ──▶ Promise: "everything up to entry N is durable" ──▶ snapshot.json
//	Data ──▶ Cut ──▶ Packer ──▶ another node: Unpacker ──▶ replica-(N+1) ──▶ Install ──▶ snapshot.json
//
// The form of a copy on its way:
//
//	| length of the name 2 | name | size 8 | bytes | sum 4 |
//
// for each file, and a name of no bytes at the end. Numbers are big endian.
//
// Mail: none.
//
// States: a copy is being received, complete, or installed. Only the last one counts, also after a crash.
//
// A restart loses: copies that were not installed.
package copies
