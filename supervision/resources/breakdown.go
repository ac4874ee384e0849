package resources

import (
	"runtime/metrics"

	"candlemark/internal/admin/management"
)

// classes are the runtime's classes of memory: objects, free memory, its own memory.
var classes = [...][]string{
	{"heap/objects"},
	{"heap/free", "heap/unused"},
	{
		"heap/stacks", "metadata/mcache/free", "metadata/mcache/inuse", "metadata/mspan/free", "metadata/mspan/inuse", "metadata/other",
		"os-stacks", "other", "profiling/buckets",
	},
}

// uses returns how the resident bytes of memory are used.
func (a *Monitor) uses(resident int64) management.Memory {
	var bytes [len(classes)]int64
	for i, names := range classes {
		samples := make([]metrics.Sample, len(names))
		for j, name := range names {
			samples[j].Name = "/memory/classes/" + name + ":bytes"
		}
		metrics.Read(samples)
		for _, s := range samples {
			bytes[i] += int64(s.Value.Uint64())
		}
	}
	bytes[0] = max(bytes[0]-a.meter.Reserved(), 0)
	contents, transactions := a.intake.Used()
	return management.Memory{
		Resident: resident, Messages: a.budget.Used(), Arriving: contents + transactions,
		Objects: bytes[0], Free: bytes[1], Runtime: bytes[2],
	}
}
