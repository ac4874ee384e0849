// Package replace starts the program of a node of a cluster again in the same process, when the node has lost the leadership: no connection and
// nothing that the broker would still do survives that.
//
// Owns: the listeners that the next program goes on with.
package replace
