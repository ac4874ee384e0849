package supervision

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"candlemark/internal/admin"
)

// measureSystem asks Linux. What cannot be read stays as it is.
func measureSystem(m *admin.Machine, directory string) {
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		m.FilesUsed = len(open)
	}
	m.FilesMax = descriptors()
	if pages := number("/proc/self/statm", 1); pages > 0 {
		m.MemoryUsed = pages * int64(os.Getpagesize())
	}
	m.MemoryMax = number("/proc/meminfo", 1) << 10
	var disk syscall.Statfs_t
	if err := syscall.Statfs(directory, &disk); err == nil {
		m.DiskFree = int64(disk.Bavail) * disk.Bsize
	}
}

// descriptors is how many files and sockets this process may have open.
func descriptors() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return unknownDescriptors
	}
	return int(min(files.Cur, 1<<30))
}

// number is a field of the first line of a file, 0 if there is none.
func number(path string, field int) int64 {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(content, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) <= field {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[field]), 10, 64)
	return n
}
