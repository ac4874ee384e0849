package proc

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ticks a second, the same on every Linux that Go runs on.
const ticks = 100

// ErrNone reports that this system has no /proc.
var ErrNone = errors.New("what a process costs can be read on Linux only")

// Sample is one reading, summed over all processes.
type Sample struct {
	At        time.Time
	Processes int
	CPU       float64 // seconds, with the time of children that have ended
	RSS       int64   // bytes
	Files     int     // open ones
	Threads   int
	Written   int64 // bytes, to disks
}

// Target is a set of processes.
type Target struct{ roots []int }

// Find returns the set of the processes with these ids and all below them. Without ids the set contains the processes
// that listen on the address, a TCP port of this machine such as 127.0.0.1:5672.
func Find(pids []int, address string) (*Target, error) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return nil, ErrNone
	}
	if len(pids) == 0 {
		pid, err := listener(address)
		if err != nil {
			return nil, err
		}
		pids = []int{pid}
	}
	for _, pid := range pids {
		if _, ok := read(pid); !ok {
			return nil, fmt.Errorf("there is no process %d", pid)
		}
	}
	return &Target{roots: pids}, nil
}

// Self returns this process; nil where there is no /proc.
func Self() *Target {
	t, err := Find([]int{os.Getpid()}, "")
	if err != nil {
		return nil
	}
	return t
}

// stat is the part of a process's line that is read.
type stat struct {
	parent, threads int
	ticks           uint64
}

func read(pid int) (s stat, ok bool) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, false
	}
	return parse(line)
}

// parse reads a line of /proc/<pid>/stat; ok is false for a process that has ended.
func parse(line []byte) (s stat, ok bool) {
	name := bytes.LastIndexByte(line, ')') // the name may have anything in it
	if name < 0 {
		return s, false
	}
	const first = 3 // the number of the field after the name, its state
	fields := strings.Fields(string(line[name+1:]))
	if len(fields) < 20 || fields[0] == "Z" {
		return s, false
	}
	n := func(field int) uint64 {
		v, _ := strconv.ParseUint(fields[field-first], 10, 64) // the kernel writes numbers
		return v
	}
	return stat{parent: int(n(4)), threads: int(n(20)), ticks: n(14) + n(15) + n(16) + n(17)}, true
}

// processes returns the ids of all.
func processes() (ids []int) {
	entries, _ := os.ReadDir("/proc") // none if it cannot be read
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// All returns the ids of the processes that live.
func (t *Target) All() (found []int) {
	children := map[int][]int{}
	for _, id := range processes() {
		if s, ok := read(id); ok {
			children[s.parent] = append(children[s.parent], id)
		}
	}
	for queue := slices.Clone(t.roots); len(queue) > 0; queue = queue[1:] {
		if !slices.Contains(found, queue[0]) {
			found = append(found, queue[0])
			queue = append(queue, children[queue[0]]...)
		}
	}
	return found
}

// Sample reads all processes.
func (t *Target) Sample() Sample {
	s := Sample{At: time.Now()}
	for _, id := range t.All() {
		p, ok := read(id)
		if !ok {
			continue
		}
		s.Processes++
		s.CPU += float64(p.ticks) / ticks
		s.Threads += p.threads
		s.RSS += rss(id)
		s.Written += field(id, "io", "write_bytes:")
		if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", id)); err == nil {
			s.Files += len(files)
		}
	}
	return s
}

// rss returns the resident memory of a process in bytes.
func rss(id int) int64 {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", id)) // 0 for one that has ended
	if f := strings.Fields(string(line)); len(f) > 1 {
		pages, _ := strconv.ParseInt(f[1], 10, 64) // 0 for a process that has ended
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// field returns the number after a name in a file of a process.
func field(id int, file, name string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", id, file)) // 0 for what others may not read
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
}

// Machine returns the CPU time in seconds that all processes have used since the machine began, and what its hypervisor
// withheld.
func Machine() (busy, stolen float64) {
	text, _ := os.ReadFile("/proc/stat") // 0 where there is none
	line, _, _ := strings.Cut(string(text), "\n")
	for i, f := range strings.Fields(line) {
		v, _ := strconv.ParseFloat(f, 64) // the first is a name
		switch i {
		case 1, 2, 3, 6, 7: // user, nice, system, interrupts
			busy += v / ticks
		case 8:
			stolen = v / ticks
		}
	}
	return busy, stolen
}

// listener returns the process that listens at a port of this machine.
func listener(address string) (int, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0, err
	}
	sockets := listening(n)
	for _, id := range processes() {
		dir := fmt.Sprintf("/proc/%d/fd", id)
		files, _ := os.ReadDir(dir) // none without permission to read them
		for _, f := range files {
			if to, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil && slices.Contains(sockets, to) {
				return id, nil
			}
		}
	}
	return 0, fmt.Errorf("no process that can be looked at listens at port %d of this machine; name it by --pid", n)
}

// listening returns the sockets that listen at a port, as links of open files name them.
func listening(port int) (sockets []string) {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(name) // there may be no IPv6
		for line := range strings.Lines(string(text)) {
			const local, state, inode = 1, 3, 9
			f := strings.Fields(line)
			if len(f) > inode && f[state] == "0A" && strings.HasSuffix(f[local], fmt.Sprintf(":%04X", port)) {
				sockets = append(sockets, "socket:["+f[inode]+"]")
			}
		}
	}
	return sockets
}
