package httpapi

import (
	"context"
	"testing"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// short is a broker with a given state of memory and disk.
type short struct {
	*fake
	machine management.Machine
}

func (s *short) Machine(context.Context) (management.Machine, error) { return s.machine, s.err }

func (s *short) SetMemoryWatermark(to config.Amount) {
	s.machine.MemoryWatermark, s.machine.MemoryLimit = to, to.Of(1000)
}

func (s *short) SetDiskFreeLimit(to config.Amount) {
	s.machine.DiskFreeLimit, s.machine.DiskLimit = to, to.Of(1000)
}

// The answers equal RabbitMQ's, of 4.0 and 3.10.
func TestHealthChecks_Alarms(t *testing.T) {
	disk, memory := `{"node":"candlemark@here","resource":"disk space"}`, `{"node":"candlemark@here","resource":"memory"}`
	for _, c := range []struct {
		disk, memory bool
		alarms       string
	}{{false, false, ""}, {true, false, disk}, {false, true, memory}, {true, true, disk + "," + memory}} {
		s := &short{fake: newFake("/"), machine: management.Machine{MemoryAlarm: c.memory, DiskAlarm: c.disk}}
		h := NewHandler(s, users, zerolog.Nop())
		for path, reason := range map[string]string{"alarms": "in the cluster", "local-alarms": "on the node"} {
			status, want := 200, `{"status":"ok"}`
			if c.alarms != "" {
				status, want = 503, `{"status":"failed","reason":"There are alarms in effect `+reason+`","alarms":[`+c.alarms+`]}`
			}
			if w := do(t, h, "viewer:v", "GET", "/api/health/checks/"+path, ""); w.Code != status || w.Body.String() != want {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	}
}

func TestLimitsOfTheMachine(t *testing.T) {
	s := &short{fake: newFake("/"), machine: management.Machine{MemoryAlarm: true}}
	h := NewHandler(s, users, zerolog.Nop())
	s.SetMemoryWatermark(config.Share(0.4))
	s.SetDiskFreeLimit(config.Amount{Bytes: 50})
	const watermark, disk = "/api/memory-high-watermark", "/api/disk-free-limit"
	for _, c := range []struct {
		as, method, path, body string
		status                 int
		want                   string
	}{
		{guest, "GET", watermark, "", 200, `{"relative":0.4,"limit":400,"alarm":true}`},
		{guest, "GET", disk, "", 200, `{"absolute":50,"limit":50,"alarm":false}`},
		{guest, "PUT", watermark, `{"relative":0.25}`, 204, ""},
		{guest, "GET", watermark, "", 200, `{"relative":0.25,"limit":250,"alarm":true}`},
		{guest, "PUT", watermark, `{"relative":"0"}`, 204, ""},
		{guest, "GET", watermark, "", 200, `{"relative":0,"limit":0,"alarm":true}`},
		{guest, "PUT", watermark, `{"absolute":"2GB"}`, 204, ""},
		{guest, "GET", watermark, "", 200, `{"absolute":2000000000,"limit":2000000000,"alarm":true}`},
		{guest, "PUT", watermark, `{"relative":1.5}`, 400, ""},
		{guest, "PUT", watermark, `{"relative":"2GB"}`, 400, ""},
		{guest, "PUT", watermark, `{"absolute":1.5}`, 400, ""},
		{guest, "PUT", watermark, `{"absolute":1,"relative":1}`, 400, ""},
		{guest, "PUT", watermark, ``, 400, `{"error":"bad_request","reason":"either relative or absolute is required"}`},
		{guest, "PUT", disk, `{"mem_relative":1.5}`, 204, ""},
		{guest, "GET", disk, "", 200, `{"mem_relative":1.5,"limit":1500,"alarm":false}`},
		{guest, "PUT", disk, `{"absolute":7}`, 204, ""},
		{guest, "GET", disk, "", 200, `{"absolute":7,"limit":7,"alarm":false}`},
		{guest, "PUT", disk, `{"absolute":"7XB"}`, 400, `{"error":"bad_request","reason":"\"7XB\" is not a size such as 50MB"}`},
		{guest, "PUT", disk, `{"mem_relative":-1}`, 400, ""},
		{"viewer:v", "PUT", disk, `{"absolute":7}`, 401, ""},
		{"viewer:v", "GET", watermark, "", 401, ""},
	} {
		w := do(t, h, c.as, c.method, c.path, c.body)
		if w.Code != c.status || c.want != "" && w.Body.String() != c.want {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, w.Code, w.Body)
		}
	}
}
