// Package copies owns the data of a node of a cluster, and the copies of them that other nodes get.
//
// Owns: the folders replica-N, each with a journal and definitions, and the file snapshot.json, which names the one that counts.
//
//	Data ──▶ Promise: "everything up to entry N is durable" ──▶ snapshot.json
//	Data ──▶ Cut ──▶ Source ──▶ another node: Receive ──▶ replica-(N+1) ──▶ Install ──▶ snapshot.json
//
// Two nodes say to each other (ADR 150), over a connection that only the copy uses:
//
//	sender    | length 4 | Offer, JSON |
//	receiver  | file 4 | block 4 | has 1 | sum 4 |      again and again; file is 0xFFFFFFFF at the end
//	sender    | 's' |  or  | 'b' | sum 4 | block |
//	receiver  | length 4 | result, JSON |
//
// Numbers are big endian, sums CRC32C.
//
// Mail: none.
//
// States: a copy is being received, complete, or installed. Only the last one counts, also after a crash.
//
// Deadlines: a copy lasts for an hour, the other node may be silent for a minute, and open the data for 5 minutes (CLU-29).
//
// A restart loses: nothing of what has come of a copy.
package copies
