//go:build race

package cluster_test

// With the race detector a step takes several times as long.
func init() { simDefault = 20_000 }
