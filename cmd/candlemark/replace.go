//go:build !windows

package main

import (
	"os"
	"syscall"

	"github.com/rs/zerolog"
)

// replaceProcess starts the program again in this process. That closes all connections at once, and nothing that the broker would still
// do happens. It returns the exit code if that fails.
func replaceProcess(log zerolog.Logger) int {
	path, err := os.Executable()
	if err == nil {
		err = syscall.Exec(path, os.Args, os.Environ())
	}
	log.Error().Err(err).Msg("the program could not be started again")
	return 1
}
