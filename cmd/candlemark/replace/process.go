//go:build !windows

package replace

import (
	"encoding/json"
	"net"
	"os"
	"strconv"
	"syscall"

	"candlemark/internal/transport/forward"

	"github.com/rs/zerolog"
)

// Process starts the program again in this process. That closes all connections at once, and nothing that the broker would still
// do happens. The new program has the listeners of the front, unless that is nil. Process returns the exit code if it fails.
func Process(front *forward.Front, log zerolog.Logger) int {
	k := keep(front)
	endSockets(k)
	text, _ := json.Marshal(k)
	err := os.Setenv(keptVariable, string(text))
	if err == nil {
		err = program()
	}
	log.Error().Err(err).Msg("the program could not be started again")
	return 1
}

func program() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(path, os.Args, os.Environ())
}

// keep makes the next program of this process have the listeners of a front. One that cannot be kept is closed, and opened again.
func keep(front *forward.Front) Kept {
	k := Kept{PID: os.Getpid()}
	if front == nil {
		return k
	}
	front.Each(func(kind, address string, l net.Listener) {
		of, is := l.(interface{ File() (*os.File, error) })
		if !is {
			return
		}
		f, err := of.File()
		if err != nil {
			return
		}
		defer f.Close()
		if fd, err := syscall.Dup(int(f.Fd())); err == nil { // the copy outlives the program
			k.Listeners = append(k.Listeners, keptListener{kind, address, fd})
		}
	})
	return k
}

// endSockets ends all connections over TCP, and all listeners that are not kept: the system replaces a process only when its last thread has
// ended, and a thread that waits for a disk that hangs does not.
func endSockets(k Kept) {
	stay := map[uint64]bool{}
	for _, l := range k.Listeners {
		stay[inode(l.FD)] = true
	}
	list, _ := os.ReadDir("/dev/fd") // without it they end with the process
	for _, e := range list {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 || stay[inode(fd)] {
			continue
		}
		switch a, _ := syscall.Getsockname(fd); a.(type) {
		case *syscall.SockaddrInet4, *syscall.SockaddrInet6:
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
		}
	}
}

// inode returns the number of a file; 0 if it has none.
func inode(fd int) uint64 {
	var s syscall.Stat_t
	if syscall.Fstat(fd, &s) != nil {
		return 0
	}
	return s.Ino
}
