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

// Survey describes this process and its machine, without a broker, with the alarms that a broker would have at once. short is the memory alarm of the
// last survey, which ends below the watermark.
func Survey(c Config, short bool) management.Machine {
	m := measure()
	var s alarmState
	s.set(c.Watermark, c.DiskFree, c.Meter.Total())
	s.memory, s.muchAt = short, -calmMemory
	r := reading{memory: c.Meter.Memory()}
	r.disk, r.known = c.Meter.Disk()
	s.look(r)
	s.describe(&m, r)
	return m
}

// Bound makes a process without a broker collect garbage below the watermark, as one with a broker does.
func Bound(c Config) {
	var s alarmState
	s.set(c.Watermark, c.DiskFree, c.Meter.Total())
	c.Meter.Bound(s.bound())
}

// describe sets the fields about memory, disk and alarms.
func (s *alarmState) describe(m *management.Machine, r reading) {
	m.MemoryUsed, m.MemoryMax, m.MemoryLimit, m.MemoryWatermark, m.MemoryAlarm = r.memory, s.total, s.limit, s.watermark, s.memory
	m.DiskFree, m.DiskLimit, m.DiskFreeLimit, m.DiskAlarm = r.disk, s.least, s.diskFree, s.disk
}
