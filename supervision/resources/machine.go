package resources

import (
	"runtime"

	"candlemark/internal/admin/management"
)

// unknownDescriptors is the number of file descriptors assumed if the system does not report it.
const unknownDescriptors = 1024

// measure reads the state of the process and its machine. Values that this system does not report stay 0.
func measure() management.Machine {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	m := management.Machine{
		Processors: runtime.GOMAXPROCS(0), Tasks: runtime.NumGoroutine(),
		Collections: uint64(memory.NumGC), Freed: memory.TotalAlloc - memory.HeapAlloc,
	}
	measureSystem(&m)
	return m
}
