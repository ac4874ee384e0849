package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"candlemark/internal/jsonencode"
	"candlemark/protocol"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func hub(out *bytes.Buffer, level zerolog.Level) *Hub {
	return NewHub(Config{
		Log: zerolog.New(out).Level(level), Now: func() int64 { return 1700000000123 },
		JSON: func(t protocol.Table) []byte {
			m := map[string]any{}
			for _, f := range t {
				m[f.Key] = f.Value
			}
			return jsonencode.Marshal(m)
		},
	})
}

func named(name string) func() *Event {
	return func() *Event { return &Event{Name: name, Fields: protocol.Table{{Key: "name", Value: "x"}}} }
}

// A line has who, where from, by which way, what, and what was before.
func TestRecord(t *testing.T) {
	var out bytes.Buffer
	by := &Origin{User: "ann", Source: "10.0.0.1:5", Interface: HTTP}
	hub(&out, zerolog.InfoLevel).Publish(Change, func() *Event {
		return &Event{Name: "user.tags.set", VHost: "/", By: by, Fields: protocol.Table{{Key: "name", Value: "bob"}}, Before: []string{"a"}}
	})
	want := `{"level":"info","event":"user.tags.set","user":"ann","source":"10.0.0.1:5","interface":"http","what":{"name":"bob"},"before":["a"],"message":"on record"}` + "\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// Routine events have the level debug, and events without a reader are not built.
func TestWhatIsRecorded(t *testing.T) {
	client, admin := &Origin{Interface: AMQP}, &Origin{Interface: CommandLine}
	imported, start := &Origin{Interface: Import}, &Origin{Interface: Settings}
	for _, c := range []struct {
		by              *Origin
		kept, transient Record
		other           Record
	}{
		{nil, Routine, Routine, Routine},
		{client, Change, Routine, Change},
		{admin, Change, Change, Change},
		{imported, Routine, Routine, Change},
		{start, Routine, Routine, Change},
	} {
		if kept, transient, other := c.by.Declared(true), c.by.Declared(false), c.by.Asked(); kept != c.kept || transient != c.transient || other != c.other {
			t.Errorf("%+v: %d %d %d", c.by, kept, transient, other)
		}
	}
	var out bytes.Buffer
	quiet := func() *Event { t.Error("put together"); return &Event{} }
	h := hub(&out, zerolog.InfoLevel)
	h.Publish(Routine, quiet)
	h.Publish(Unrecorded, quiet)
	hub(&out, zerolog.WarnLevel).Publish(Change, quiet)
	l := h.Listen(1, nil, func() bool { return true })
	if h.Publish(Unrecorded, quiet); h.Wanted() {
		t.Error("wanted by who is idle")
	}
	l.Close()
	(*Hub)(nil).Publish(Change, quiet)
	if out.Len() > 0 || (*Hub)(nil).Wanted() {
		t.Error(out.String())
	}
}

// A line has a bounded size and stays JSON, and users and passwords of URIs do not stand in it.
func TestRecordsAreBoundedAndHaveNoSecrets(t *testing.T) {
	var out bytes.Buffer
	long := strings.Repeat("é", 1<<20)
	hub(&out, zerolog.InfoLevel).Publish(Change, func() *Event {
		return &Event{Name: "parameter.set", Fields: protocol.Table{{Key: "value", Value: long}}, Before: map[string]string{
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

// A slow listener has a bounded number of events waiting, and gets the number of missed ones in their place.
func TestSlowListener(t *testing.T) {
	h := hub(&bytes.Buffer{}, zerolog.Disabled)
	slow := h.Listen(2, func(e *Event) bool { return e.Name != "unwanted" }, nil)
	fast := h.Listen(10, nil, nil)
	for i := range 5 {
		h.Publish(Unrecorded, named(fmt.Sprint(i)))
		h.Publish(Unrecorded, named("unwanted"))
	}
	if len(fast.C) != 10 || fast.Missed() != 0 {
		t.Errorf("%d events", len(fast.C))
	}
	var got []string
	take := func() {
		e := <-slow.C
		got = append(got, fmt.Sprint(e.Name, "-", e.Lost))
	}
	if slow.Missed() != 0 {
		t.Error("the event was delivered before an earlier one")
	}
	take()
	h.Publish(Unrecorded, named("5"))
	take()
	take()
	h.Publish(Unrecorded, named("6"))
	h.Publish(Unrecorded, named("7"))
	h.Publish(Unrecorded, named("8"))
	take()
	take()
	if s := strings.Join(got, " "); s != "0-0 1-0 5-3 6-0 7-0" {
		t.Error(s)
	}
	if n := slow.Missed(); n != 1 {
		t.Error(n)
	}
	if n := slow.Missed(); n != 0 {
		t.Error(n)
	}
	slow.Close()
	fast.Close()
	if h.Publish(Unrecorded, named("9")); h.Wanted() || len(slow.C) > 0 {
		t.Error("somebody listens")
	}
}

func TestHeaders(t *testing.T) {
	e := &Event{Name: "n", Fields: protocol.Table{{Key: "name", Value: "x"}}, At: 5}
	if got := fmt.Sprint(e.Headers()); got != "[{name x} {user_who_performed_action rmq-internal} {timestamp_in_ms 5}]" {
		t.Error(got)
	}
	e.By = &Origin{User: "ann"}
	if got := fmt.Sprint(e.Headers()); got != "[{name x} {user_who_performed_action ann} {timestamp_in_ms 5}]" || len(e.Fields) != 1 {
		t.Error(got)
	}
}

func TestOriginOf(t *testing.T) {
	o := &Origin{User: "ann"}
	if OriginOf(t.Context()) != nil || OriginOf(WithOrigin(t.Context(), o)) != o {
		t.Error("another one")
	}
}

// Patterns are those of topic exchanges.
func TestPattern(t *testing.T) {
	for pattern, names := range map[string]string{
		"#": "queue.created user.tags.set x", "queue.*": "queue.created", "*.created": "queue.created", "queue.created": "queue.created",
		"#.set": "user.tags.set", "user.#": "user.tags.set", "user.*": "", "*": "x", "#.*.#": "queue.created user.tags.set x",
		"##": "", "#.#": "queue.created user.tags.set x", "": "", "*.*": "queue.created", "user.#.set": "user.tags.set", "#.tags.#.set": "user.tags.set",
	} {
		var got []string
		for _, name := range []string{"queue.created", "user.tags.set", "x"} {
			if ParsePattern(pattern).Matches(name) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != names {
			t.Errorf("%q matches %q", pattern, got)
		}
	}
}
