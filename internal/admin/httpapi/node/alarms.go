package node

import (
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// alarmItem is the form of an alarm.
type alarmItem struct {
	Node     string `json:"node"`
	Resource string `json:"resource"`
}

// alarmsOf returns the alarms of a node.
func alarmsOf(node string, m *management.Machine) (found []alarmItem) {
	if m.DiskAlarm {
		found = append(found, alarmItem{node, "disk space"})
	}
	if m.MemoryAlarm {
		found = append(found, alarmItem{node, "memory"})
	}
	return found
}

// noAlarms checks that memory and disk suffice on all nodes (CLU-33).
func noAlarms(r *rest.Request, m *management.Machine) any {
	found := alarmsOf(r.Node, m)
	c := r.Broker.ClusterState()
	for _, other := range c.Members {
		if other.Report != nil {
			found = append(found, alarmsOf(other.Name, &other.Report.Machine)...)
		}
	}
	return alarmed(found, "There are alarms in effect in the cluster")
}

// noLocalAlarms checks that no publisher is blocked.
func noLocalAlarms(r *rest.Request, m *management.Machine) any {
	return alarmed(alarmsOf(r.Node, m), "There are alarms in effect on the node")
}

func alarmed(found []alarmItem, reason string) any {
	if found == nil {
		return healthy
	}
	return unhealthy(health{Reason: reason, Alarms: found})
}

// ofMachine answers with a form of the machine.
func ofMachine(form func(*rest.Request, *management.Machine) any) rest.Handler {
	return func(r *rest.Request) (any, error) {
		m, err := r.Broker.Machine(r.Context())
		return form(r, &m), err
	}
}

// limitItem is the form of a limit of the broker's machine: the setting, and the result.
type limitItem struct {
	Relative    *float64 `json:"relative,omitempty"`
	MemRelative *float64 `json:"mem_relative,omitempty"`
	Absolute    *int64   `json:"absolute,omitempty"`
	Limit       int64    `json:"limit"` // bytes
	Alarm       bool     `json:"alarm"`
}

func watermark(_ *rest.Request, m *management.Machine) any {
	share, bytes := amount(&m.MemoryWatermark)
	return limitItem{Relative: share, Absolute: bytes, Limit: m.MemoryLimit, Alarm: m.MemoryAlarm}
}

func diskFreeLimit(_ *rest.Request, m *management.Machine) any {
	share, bytes := amount(&m.DiskFreeLimit)
	return limitItem{MemRelative: share, Absolute: bytes, Limit: m.DiskLimit, Alarm: m.DiskAlarm}
}

// amount returns a share of the memory or a number of bytes.
func amount(a *config.Amount) (share *float64, bytes *int64) {
	if a.Relative {
		return &a.Share, nil
	}
	return nil, &a.Bytes
}

func multipleOfMemory(text string) (config.Amount, error) {
	return config.ParseDiskLimit("mem_relative " + text)
}

// limit is a limit of the broker's machine.
type limit struct {
	name string
	of   func(*management.Machine) config.Amount
}

var (
	memoryLimit = limit{"memory_high_watermark", func(m *management.Machine) config.Amount { return m.MemoryWatermark }}
	diskLimit   = limit{"disk_free_limit", func(m *management.Machine) config.Amount { return m.DiskFreeLimit }}
)

// setLimit changes a limit to {"absolute": "2GB"}, or a number of bytes, or, under the name relative, to an amount
// relative to the memory.
func setLimit(of limit, relative string, parse func(string) (config.Amount, error), set func(management.Broker, config.Amount)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		b := r.JSON()
		if b.Err != nil {
			return nil, b.Err
		}
		var to config.Amount
		var err error
		share, size := b.Fields[relative], b.Fields["absolute"]
		switch {
		case (share == nil) == (size == nil):
			err = rest.Complaintf("either %s or absolute is required", relative)
		case share != nil:
			if to, err = parse(rest.BareValue(share)); err == nil && !to.Relative {
				err = rest.Complaintf("%s: %s is not a share of the memory, 0 to 1", relative, share)
			}
		default:
			to.Bytes, err = config.ParseSize(rest.BareValue(size))
		}
		if err != nil {
			return nil, rest.Invalid(err)
		}
		before, err := r.Broker.Machine(r.Context())
		if err != nil {
			return nil, err
		}
		set(r.Broker, to)
		r.Record("limit.set", "", protocol.Table{{Key: "name", Value: of.name}, {Key: "value", Value: to.String()}}, of.of(&before).String())
		return nil, nil
	}
}
