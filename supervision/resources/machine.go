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

// Survey describes this process and its machine, without a broker: with the alarms that one would have at once.
func Survey(c Config) management.Machine {
	m := measure()
	var s alarmState
	s.set(c.Watermark, c.DiskFree, c.Meter.Total())
	r := reading{memory: c.Meter.Memory()}
	r.disk, r.known = c.Meter.Disk()
	s.look(r)
	s.describe(&m, r)
	return m
}

// describe sets the fields about memory, disk and alarms.
func (s *alarmState) describe(m *management.Machine, r reading) {
	m.MemoryUsed, m.MemoryMax, m.MemoryLimit, m.MemoryWatermark, m.MemoryAlarm = r.memory, s.total, s.limit, s.watermark, s.memory
	m.DiskFree, m.DiskLimit, m.DiskFreeLimit, m.DiskAlarm = r.disk, s.least, s.diskFree, s.disk
}
