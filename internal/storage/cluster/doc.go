// Package cluster replicates the data of a broker to other nodes: the journal and the definitions (ADR 132).
//
// Owns: the data folder of a node of a cluster: raft/ (log, votes, node.json, snapshot.json), replica-N/ (a journal and definitions, package copies)
// and definitions.db, which only marks and locks the folder. raftlog keeps the log on disk, copies owns the data, wire connects the nodes.
//
// The nodes elect a leader and agree on one order of entries, by raft (github.com/hashicorp/raft). An entry has the calls that the
// leader's broker made of its journal and its definitions meanwhile. A committed entry is durable on a majority; every node, the leader
// too, applies it to its replica then, and the calls are answered.
//
//	Journal.Append, Definitions.Apply ──front──▶ entry ──raft──▶ machine ──▶ segment.Replica, definitions.File ──▶ done
//
// Nothing outside of this package knows raft; nothing in it knows queues.
//
// Mail: none.
//
// States: a node is no member yet, follows, leads, or has failed. The stores of a term (Journal, Definitions) accept calls
// until the node no longer leads; after that they refuse all.
//
// Deadlines: a follower waits for Config.Timeout, and up to that again, for a leader that is silent; not if the leader's
// process has ended (CLU-7). Calls for which nobody waits are gathered for 5 ms.
//
// A restart loses: calls that were not answered. A change of the leader is a restart for the broker (CLU-1).
package cluster
