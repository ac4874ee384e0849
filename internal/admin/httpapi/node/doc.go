// Package node is the section of the HTTP API about the broker as a whole: overview, node, limits of its machine,
// health checks, and features.
package node
