//go:build race

package integration

// The broker is built with the race detector if the tests are.
func init() { buildFlags, racing = append(buildFlags, "-race"), true }
