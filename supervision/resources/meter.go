package resources

import (
	"cmp"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Meter measures the resources of a broker. Tests have their own.
type Meter interface {
	// Memory returns the bytes that the system could reclaim only by ending the process.
	Memory() int64
	// Reserved returns how many bytes of the objects were never used: the system has given no memory for them.
	Reserved() int64
	// Total returns the maximum bytes that the process may hold: the memory of the machine, or the limit of the
	// container; 0 if unknown.
	Total() int64
	// Disk returns how many bytes are free where the broker keeps its data; false if unknown.
	Disk() (free int64, known bool)
	// Collections returns how often garbage was collected so far.
	Collections() uint64
	// Collect collects garbage now; free memory is returned to the system in the background, within a few seconds.
	Collect()
	// Release collects garbage and returns all free memory at once. It stops everything else until it is done: for some 50
	// ms when it returns half a gigabyte.
	Release()
	// Bound makes the process collect garbage more often when its memory comes close to that many bytes.
	Bound(bytes int64)
}

// System is the Meter of this process. Directory is the folder of the broker's data; Untouched bytes of the process's
// reserved memory are never used. Most is the result of Total in bytes, 0 for the total of the machine or the
// container.
type System struct {
	Directory string
	Untouched int64
	Most      int64
}

// Memory implements Meter. Pages mapped from files do not count, as the system drops them when it needs memory. If the
// system does not report it, it is the memory obtained by the runtime.
func (System) Memory() int64 {
	if n := anonymousMemory(); n > 0 {
		return n
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// Reserved implements Meter.
func (s System) Reserved() int64 { return s.Untouched }

// Total implements Meter.
func (s System) Total() int64 {
	if s.Most > 0 {
		return s.Most
	}
	total := machineMemory()
	limit, err := memlimit.FromCgroup()
	if err != nil || limit == 0 || limit > math.MaxInt64 {
		return total
	}
	return min(cmp.Or(total, int64(limit)), int64(limit))
}

// Disk implements Meter.
func (s System) Disk() (free int64, known bool) { return freeDisk(s.Directory) }

// Collections implements Meter.
func (System) Collections() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Collect implements Meter. The runtime retains as much memory as it expects to need after the previous collection, so
// two are necessary.
func (System) Collect() {
	runtime.GC()
	runtime.GC()
}

// Release implements Meter.
func (System) Release() { debug.FreeOSMemory() }

// Bound implements Meter. An operator's GOMEMLIMIT takes precedence. The limit applies to the process: of several
// brokers in it, the last to get a watermark decides.
func (s System) Bound(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes + s.Untouched)
	}
}

// reading is the result of a measurement with a Meter.
type reading struct {
	at     time.Duration // since the broker's start, monotonic
	memory int64         // bytes
	disk   int64         // bytes free
	known  bool          // disk is known
	full   bool          // queues hold so much that flow is held (budget.Valve)
}
