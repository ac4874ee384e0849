package httpapi

import (
	"encoding/json"
	"net/http"

	"candlemark/internal/config"
)

func (a *api) alarmPaths(mux *http.ServeMux) {
	checks := "/api/health/checks"
	mux.Handle(checks+"/alarms", methods{"GET": a.guard(anybody, a.noAlarms("There are alarms in effect in the cluster"))})
	mux.Handle(checks+"/local-alarms", methods{"GET": a.guard(anybody, a.noAlarms("There are alarms in effect on the node"))})
	mux.Handle("/api/memory-high-watermark", methods{
		"GET": a.guard(monitor, a.watermark),
		"PUT": a.guard(administrator, a.setLimit("relative", config.ParseWatermark, a.broker.SetMemoryWatermark)),
	})
	mux.Handle("/api/disk-free-limit", methods{
		"GET": a.guard(monitor, a.diskFreeLimit),
		"PUT": a.guard(administrator, a.setLimit("mem_relative", multipleOfMemory, a.broker.SetDiskFreeLimit)),
	})
}

// alarmItem is the form of an alarm.
type alarmItem struct {
	Node     string `json:"node"`
	Resource string `json:"resource"`
}

// noAlarms checks that no publisher is blocked.
func (a *api) noAlarms(otherwise string) func(*request) {
	return func(r *request) {
		m, err := a.broker.Machine(r.Context())
		if err != nil {
			a.refuse(r, err)
			return
		}
		var found []alarmItem
		if m.DiskAlarm {
			found = append(found, alarmItem{a.node, "disk space"})
		}
		if m.MemoryAlarm {
			found = append(found, alarmItem{a.node, "memory"})
		}
		if found == nil {
			healthy(r)
			return
		}
		answer(r.w, http.StatusServiceUnavailable, struct {
			Status string      `json:"status"`
			Reason string      `json:"reason"`
			Alarms []alarmItem `json:"alarms"`
		}{"failed", otherwise, found})
	}
}

// limitItem is the form of a limit of the broker's machine: as it was set, and
// what that comes to.
type limitItem struct {
	Relative    *float64 `json:"relative,omitempty"`
	MemRelative *float64 `json:"mem_relative,omitempty"`
	Absolute    *int64   `json:"absolute,omitempty"`
	Limit       int64    `json:"limit"` // bytes
	Alarm       bool     `json:"alarm"`
}

func (a *api) watermark(r *request) {
	m, err := a.broker.Machine(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	item := limitItem{Limit: m.MemoryLimit, Alarm: m.MemoryAlarm}
	if w := m.MemoryWatermark; w.Relative {
		item.Relative = &w.Share
	} else {
		item.Absolute = &w.Bytes
	}
	answer(r.w, http.StatusOK, item)
}

func (a *api) diskFreeLimit(r *request) {
	m, err := a.broker.Machine(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	item := limitItem{Limit: m.DiskLimit, Alarm: m.DiskAlarm}
	if l := m.DiskFreeLimit; l.Relative {
		item.MemRelative = &l.Share
	} else {
		item.Absolute = &l.Bytes
	}
	answer(r.w, http.StatusOK, item)
}

func multipleOfMemory(text string) (config.Amount, error) {
	return config.ParseDiskLimit("mem_relative " + text)
}

// setLimit changes a limit to {"absolute": "2GB"}, or a number of bytes, or to
// what has another name and is relative to the memory there is.
func (a *api) setLimit(relative string, parse func(string) (config.Amount, error), set func(config.Amount)) func(*request) {
	return func(r *request) {
		object, ok := r.body(maxBody)
		if !ok {
			return
		}
		var to config.Amount
		var err error
		share, size := object[relative], object["absolute"]
		switch {
		case (share == nil) == (size == nil):
			err = complaintf("either %s or absolute is needed", relative)
		case share != nil:
			if to, err = parse(bareValue(share)); err == nil && !to.Relative {
				err = complaintf("%s: %s is no share of the memory", relative, share)
			}
		default:
			to.Bytes, err = config.ParseSize(bareValue(size))
		}
		if bad(r, err) {
			return
		}
		set(to)
		r.w.WriteHeader(http.StatusNoContent)
	}
}

// bareValue is a JSON string or number without quotes.
func bareValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
