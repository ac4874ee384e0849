// Package told tells events of connections, of either protocol, and describes their ends.
//
// Owns: nothing.
package told
