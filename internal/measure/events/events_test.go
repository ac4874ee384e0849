package events

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines counts written records from a level upwards.
type lines struct {
	from  Record
	count int
}

func (l *lines) Line(record Record) func(*Event) {
	if record < l.from {
		return nil
	}
	return func(*Event) { l.count++ }
}

func hub(log Log) *Hub { return NewHub(Config{Log: log, Now: func() int64 { return 1700000000123 }}) }

func named(name string) func() *Event {
	return func() *Event { return &Event{Name: name, Fields: protocol.Table{{Key: "name", Value: "x"}}} }
}

// Events that nothing needs are not built, and each recorded event is written once.
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
	log := &lines{from: Change}
	quiet := func() *Event { t.Error("put together"); return &Event{} }
	h := hub(log)
	h.Publish(Routine, quiet)
	h.Publish(Unrecorded, quiet)
	hub(nil).Publish(Change, quiet)
	l := h.Listen(1, nil, func() bool { return true })
	if h.Publish(Unrecorded, quiet); h.Wanted() {
		t.Error("wanted by who is idle")
	}
	l.Close()
	(*Hub)(nil).Publish(Change, quiet)
	if h.Publish(Change, named("recorded")); log.count != 1 || (*Hub)(nil).Wanted() {
		t.Error(log.count, "lines")
	}
}

// A slow listener has a bounded number of pending events; the next event after a gap has the number of lost ones.
func TestSlowListener(t *testing.T) {
	h := hub(nil)
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

// Events that wait for a listener are bounded by their bytes, too; one may have any size.
func TestSlowListenerHoldsLittle_ACC12(t *testing.T) {
	h := hub(nil)
	l := h.Listen(100, nil, nil)
	defer l.Close()
	large := func() *Event {
		return &Event{Name: "large", Fields: protocol.Table{{Key: "arguments", Value: protocol.Table{{Key: "a", Value: protocol.Array{strings.Repeat("x", 60_000)}}}}}}
	}
	for range 5 {
		h.Publish(Unrecorded, large)
	}
	if len(l.C) != 1 {
		t.Fatalf("%d events of 60 KB wait", len(l.C))
	}
	l.Done(<-l.C)
	h.Publish(Unrecorded, large)
	if e := <-l.C; e.Lost != 4 {
		t.Errorf("%d lost", e.Lost)
	}
	h.Publish(Unrecorded, large)
	if n := l.Missed(); n != 1 { // the last one is not done yet
		t.Errorf("%d lost", n)
	}
	l.held = 0
	h.Publish(Unrecorded, func() *Event {
		return &Event{Name: "huge", Fields: protocol.Table{{Key: "b", Value: []byte(strings.Repeat("x", 1<<20))}}}
	})
	if len(l.C) != 1 {
		t.Error("a huge event is lost although nothing waits")
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

// Patterns match as the binding keys of topic exchanges do.
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
