// Package discovery finds the nodes of a cluster by a name in the DNS (CLU-30).
//
// Owns: what was found last.
package discovery
