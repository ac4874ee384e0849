// Package trio runs clusters of three nodes in one process, over a network in memory: in a testing/synctest bubble time costs
// nothing, and tests cut the network where they like.
//
// Owns: Network, the connections between nodes; Trio, the nodes and the stores of the broker of the present term.
//
// Nothing here may outlive its bubble: Close ends everything.
//
// Deadlines: those of package cluster.
package trio
