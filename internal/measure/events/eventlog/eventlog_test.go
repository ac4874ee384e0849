package eventlog

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"candlemark/internal/measure/events"
	"candlemark/internal/text/jsonencode"
	"candlemark/protocol"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hub(out *bytes.Buffer, level zerolog.Level) *events.Hub {
	return events.NewHub(events.Config{
		Log: New(zerolog.New(out).Level(level), func(t protocol.Table) []byte {
			m := map[string]any{}
			for _, f := range t {
				m[f.Key] = f.Value
			}
			return jsonencode.Marshal(m)
		}),
		Now: func() int64 { return 1700000000123 },
	})
}

// A line has the user, source, interface, changed object and previous value.
func TestRecord(t *testing.T) {
	var out bytes.Buffer
	by := &events.Origin{User: "ann", Source: "10.0.0.1:5", Interface: events.HTTP}
	hub(&out, zerolog.InfoLevel).Publish(events.Change, func() *events.Event {
		return &events.Event{Name: "user.tags.set", VHost: "/", By: by, Fields: protocol.Table{{Key: "name", Value: "bob"}}, Before: []string{"a"}}
	})
	want := `{"level":"info","event":"user.tags.set","user":"ann","source":"10.0.0.1:5","interface":"http","what":{"name":"bob"},"before":["a"],"message":"on record"}` + "\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// A line has a bounded size, is valid JSON, and contains no users and passwords of URIs.
func TestRecordsAreBoundedAndHaveNoSecrets(t *testing.T) {
	var out bytes.Buffer
	long := strings.Repeat("é", 1<<20)
	hub(&out, zerolog.InfoLevel).Publish(events.Change, func() *events.Event {
		return &events.Event{Name: "parameter.set", Fields: protocol.Table{{Key: "value", Value: long}}, Before: map[string]string{
			"uri": "amqps://ann:sesame@host/v", "uris": "amqp://b:swordfish@h amqp://c:tiger@h",
		}}
	})
	var line struct {
		What struct {
			Size   int    `json:"size_bytes"`
			Begins string `json:"begins"`
		} `json:"what"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.What.Size < 2<<20 || len(line.What.Begins) > maxRecorded || out.Len() > 3*maxRecorded {
		t.Errorf("%v: %d bytes", err, out.Len())
	}
	for _, secret := range []string{"sesame", "swordfish", "tiger"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s stands in %s", secret, out.String())
		}
	}
}

// Routine events have the level debug.
func TestLevels(t *testing.T) {
	for level, want := range map[zerolog.Level]string{zerolog.DebugLevel: "debug info", zerolog.InfoLevel: "info", zerolog.WarnLevel: "", zerolog.Disabled: ""} {
		var out bytes.Buffer
		h := hub(&out, level)
		var got []string
		for _, record := range []events.Record{events.Unrecorded, events.Routine, events.Change} {
			h.Publish(record, func() *events.Event { return &events.Event{Name: "n"} })
		}
		for line := range strings.Lines(out.String()) {
			_, rest, _ := strings.Cut(line, `"level":"`)
			word, _, _ := strings.Cut(rest, `"`)
			got = append(got, word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", level, got)
		}
	}
}

// sampler is a level that can change while the broker runs, as the level of its log can.
type sampler zerolog.Level

func (s sampler) Sample(level zerolog.Level) bool { return level >= zerolog.Level(s) }

// Events that a sampler drops are not built.
func TestLevelOfSampler(t *testing.T) {
	var out bytes.Buffer
	log := New(zerolog.New(&out).Sample(sampler(zerolog.InfoLevel)), func(protocol.Table) []byte { return []byte("{}") })
	h, built := events.NewHub(events.Config{Log: log, Now: func() int64 { return 1 }}), 0
	for _, record := range []events.Record{events.Routine, events.Change} {
		h.Publish(record, func() *events.Event { built++; return &events.Event{Name: "n"} })
	}
	if built != 1 || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%d built: %s", built, out.String())
	}
}
