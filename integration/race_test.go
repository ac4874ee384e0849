//go:build race

package integration

import "time"

// The broker is built with the race detector if the tests are.
func init() { buildFlags, racing, patience = append(buildFlags, "-race"), true, 4*time.Minute }
