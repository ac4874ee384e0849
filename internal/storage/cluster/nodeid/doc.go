// Package nodeid has the identity of a node of a cluster: its name, and the life of its folder.
//
// Owns: the file FileName in the folder of the log.
package nodeid
