//go:build !windows

package main

import (
	"os"
	"strconv"
	"syscall"

	"github.com/rs/zerolog"
)

// replaceProcess starts the program again in this process. That closes all connections at once, and nothing that the broker would still
// do happens. It returns the exit code if that fails.
func replaceProcess(log zerolog.Logger) int {
	endSockets()
	path, err := os.Executable()
	if err == nil {
		err = syscall.Exec(path, os.Args, os.Environ())
	}
	log.Error().Err(err).Msg("the program could not be started again")
	return 1
}

// endSockets ends all connections and listeners over TCP: the system replaces a process only when its last thread has ended, and
// a thread that waits for a disk that hangs does not.
func endSockets() {
	list, _ := os.ReadDir("/dev/fd") // without it they end with the process
	for _, e := range list {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		switch a, _ := syscall.Getsockname(fd); a.(type) {
		case *syscall.SockaddrInet4, *syscall.SockaddrInet6:
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
		}
	}
}
