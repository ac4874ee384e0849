package resources

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"candlemark/internal/admin/management"
)

// measureSystem asks Linux. Values that cannot be read stay unchanged.
func measureSystem(m *management.Machine) {
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		m.FilesUsed = len(open)
	}
	m.FilesMax = descriptors()
}

// anonymousMemory returns the resident bytes that do not belong to files, 0 if unknown.
func anonymousMemory() int64 {
	pages := numbers("/proc/self/statm")
	if len(pages) < 3 {
		return 0
	}
	return (pages[1] - pages[2]) * int64(os.Getpagesize())
}

// machineMemory returns how many bytes the machine has, 0 if unknown.
func machineMemory() int64 {
	if total := numbers("/proc/meminfo"); len(total) > 1 {
		return total[1] << 10
	}
	return 0
}

// freeDisk returns how many bytes this process may still write below a folder.
func freeDisk(directory string) (free int64, known bool) {
	var disk syscall.Statfs_t
	err := syscall.Statfs(directory, &disk)
	return int64(disk.Bavail) * int64(disk.Bsize), err == nil // 32-bit fields on some machines
}

// descriptors returns how many files and sockets this process may have open.
func descriptors() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return unknownDescriptors
	}
	return int(min(files.Cur, 1<<30))
}

// numbers returns the fields of the first line of a file, 0 for other fields.
func numbers(path string) []int64 {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	line, _, _ := bytes.Cut(content, []byte("\n"))
	var list []int64
	for field := range bytes.FieldsSeq(line) {
		n, _ := strconv.ParseInt(string(field), 10, 64)
		list = append(list, n)
	}
	return list
}
