package topology

import (
	"math"
	"slices"
	"testing"

	"candlemark/integration/testkit/address"
	"candlemark/protocol"
)

// keeping makes a recent-history exchange with its first table.
func (h *fixture) keeping(name string) *Exchange {
	x := h.exchange(name, RecentHistoryType)
	x.PID = address.Named("vhost/" + name)
	x.Publish(x.Routes().WithHistory(x))
	return x
}

// grow publishes the next table, with one more queue.
func (h *fixture) grow(x *Exchange, queue string) {
	r, _ := x.Routes().With(Binding{Destination: queue}, Target{Queue: h.queue(queue)})
	x.Publish(r.WithHistory(x))
}

// kept returns the number of queues of a route, its histories, and the caps of their TTLs.
func (h *fixture) kept(x *Exchange) (queues int, histories []string, caps []int64) {
	queues = len(h.router.Route(h.directory, x, []byte("k"), nil))
	for _, q := range h.router.Histories() {
		histories = append(histories, q.Name)
	}
	if caps = h.router.Caps(); caps != nil {
		caps = caps[queues:]
	}
	return queues, histories, caps
}

func TestDEC17_Routes(t *testing.T) {
	h := newFixture(t)
	x := h.keeping("x")
	x.Publish(x.Routes().WithAlternate("else"))
	other := h.exchange("else", "fanout")
	h.bind(other, "unrouted", "", nil)
	if n, histories, _ := h.kept(x); n != 1 || !slices.Equal(histories, []string{"amq.history.x"}) || h.router.queues.list[0].Name != "unrouted" {
		t.Error("without bindings the alternate exchange gets it, and it is kept", n, histories)
	}
	h.grow(x, "q")
	if n, histories, _ := h.kept(x); n != 1 || len(histories) != 1 || h.router.queues.list[0].Name != "q" || !h.router.Steady() {
		t.Error("not as a fanout", n, histories)
	}
	if _, histories, _ := h.kept(other); histories != nil {
		t.Error("kept by nobody", histories)
	}
}

// TestDEC17_Tables: a route reports the table that it used, and Between returns the bindings that were added by later tables.
func TestDEC17_Tables(t *testing.T) {
	h := newFixture(t)
	x := h.keeping("x")
	first := x.Routes().Number()
	for _, q := range []string{"a", "b", "c"} {
		h.grow(x, q)
		if h.kept(x); h.router.Histories()[0].Table != x.Routes().Number() {
			t.Error("another table")
		}
	}
	moved := &Queue{Name: "b", Incarnation: 7}
	x.Publish(x.Routes().WithMoved(moved).WithHistory(x))
	r, _ := x.Routes().Without(Binding{Destination: "c"})
	x.Publish(r.WithHistory(x))
	for n, want := range [][]string{{"a", "b"}, {"b"}, {}, {}} {
		var got []string
		for to := range x.Routes().Between(first+uint64(n), x.Routes().Number()) {
			got = append(got, to.Queue.Name)
			if to.Queue.Name == "b" && to.Queue != moved {
				t.Error("not where it lives on")
			}
		}
		if !slices.Equal(got, want) && len(want) > 0 || len(got) != len(want) {
			t.Errorf("since %d: %v, want %v", n, got, want)
		}
		for to := range x.Routes().Between(first+uint64(n), first+1) {
			if n > 0 || to.Queue.Name != "a" {
				t.Errorf("between %d and the next: %s", n, to.Queue.Name)
			}
		}
	}
}

// TestDEC17_Caps_TTL9: the TTL of a kept message is capped by the exchanges on its route and by the exchange that keeps it.
func TestDEC17_Caps_TTL9(t *testing.T) {
	h := newFixture(t)
	x, y := h.keeping("x"), h.keeping("y")
	first := h.exchange("first", "fanout")
	h.bindExchange(first, x, "")
	h.bindExchange(first, y, "")
	h.grow(x, "q")
	y.Publish(y.Routes().WithMaxTTL(500))
	if _, histories, caps := h.kept(first); !slices.Equal(histories, []string{"amq.history.x", "amq.history.y"}) || !slices.Equal(caps, []int64{-1, 500}) {
		t.Error(histories, caps)
	}
	first.Publish(first.Routes().WithMaxTTL(300))
	if _, _, caps := h.kept(first); !slices.Equal(caps, []int64{300, 300}) {
		t.Error(caps)
	}
	if _, _, caps := h.kept(y); !slices.Equal(caps, []int64{500}) {
		t.Error(caps)
	}
	if _, _, caps := h.kept(x); caps != nil {
		t.Error(caps)
	}
}

func TestDEC17_Validate(t *testing.T) {
	for _, c := range []struct {
		v    any
		text string
	}{
		{int8(1), ""},
		{int16(1), ""},
		{int32(20), ""},
		{int64(math.MaxInt64), ""},
		{int32(0), "Invalid argument 0, 'x-recent-history-length' must be a positive integer"},
		{int64(-3), "Invalid argument -3, 'x-recent-history-length' must be a positive integer"},
		{uint8(5), "Invalid argument 5, 'x-recent-history-length' must be a positive integer"},
		{"5", `Invalid argument <<"5">>, 'x-recent-history-length' must be a positive integer`},
	} {
		args := protocol.Table{{Key: historyLength, Value: c.v}}
		err := ValidateExchange(RecentHistoryType, args)
		switch {
		case (err == nil) != (c.text == ""), err != nil && (err.Code != protocol.PreconditionFailed || err.Text != "PRECONDITION_FAILED - "+c.text):
			t.Errorf("%v: %v", c.v, err)
		}
		if ValidateExchange("fanout", args) != nil {
			t.Error("of another type")
		}
	}
	if ValidateExchange(RecentHistoryType, nil) != nil || HistoryLength(nil) != 20 {
		t.Error("the argument need not be there")
	}
	if n := HistoryLength(protocol.Table{{Key: historyLength, Value: int32(3)}}); n != 3 {
		t.Error(n)
	}
}
