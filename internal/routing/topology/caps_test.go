package topology

import (
	"maps"
	"testing"

	"candlemark/protocol"
)

// caps returns the TTL cap of the route to each queue.
func (h *fixture) caps(x *Exchange, key string, headers protocol.Table) map[string]int64 {
	h.t.Helper()
	queues := h.router.Route(h.directory, x, []byte(key), func() protocol.Table { return headers })
	list := h.router.Caps()
	if list == nil {
		return nil
	}
	found := map[string]int64{}
	for i, q := range queues {
		found[q.Name] = list[i]
	}
	return found
}

// TestCaps_TTL9 builds
//
//	plain ──▶ q0, q1          short ──▶ q1, q2
//	  │  └──▶ long ──▶ q2, q3    ▲
//	  └──────────┼──────────────┘
//	             └──▶ headers ──▶ q4
//
// and asserts that every queue has the lowest cap of all routes to it.
func TestCaps_TTL9(t *testing.T) {
	h := newFixture(t)
	plain, long, short := h.exchange("plain", "topic"), h.exchange("long", "fanout"), h.exchange("short", "fanout")
	byHeaders := h.exchange("headers", "headers")
	h.bind(plain, "q0", "#", nil)
	h.bind(plain, "q1", "#", nil)
	h.bindExchange(plain, long, "#")
	h.bindExchange(plain, short, "short.#")
	h.bind(long, "q2", "", nil)
	h.bind(long, "q3", "", nil)
	h.bindExchange(long, byHeaders, "")
	h.bind(byHeaders, "q4", "", table("a", "1"))
	h.bind(short, "q1", "", nil)
	h.bind(short, "q2", "", nil)

	headers := table("a", "1")
	if got := h.caps(plain, "short.x", headers); got != nil {
		t.Errorf("without a cap: %v", got)
	}
	long.Publish(long.Routes().WithMaxTTL(5000))
	short.Publish(short.Routes().WithMaxTTL(0))
	for _, tt := range []struct {
		from *Exchange
		key  string
		want map[string]int64
	}{
		{plain, "short.x", map[string]int64{"q0": -1, "q1": 0, "q2": 0, "q3": 5000, "q4": 5000}},
		{plain, "other", map[string]int64{"q0": -1, "q1": -1, "q2": 5000, "q3": 5000, "q4": 5000}},
		{long, "other", map[string]int64{"q2": 5000, "q3": 5000, "q4": 5000}},
		{short, "other", map[string]int64{"q1": 0, "q2": 0}},
		{byHeaders, "other", nil},
		{h.directory.Exchange(nil), "q1", nil},
	} {
		if got := h.caps(tt.from, tt.key, headers); !maps.Equal(got, tt.want) {
			t.Errorf("from %s with %s: %v, want %v", tt.from.Name, tt.key, got, tt.want)
		}
	}

	long.Publish(long.Routes().WithMaxTTL(-1))
	short.Publish(short.Routes().WithMaxTTL(-1))
	if got := h.caps(plain, "short.x", headers); got != nil {
		t.Errorf("cap taken away: %v", got)
	}
}

// TestCapsOfCircles_TTL9: caps are found for exchanges bound in a circle, and through an alternate exchange.
func TestCapsOfCircles_TTL9(t *testing.T) {
	h := newFixture(t)
	a, b := h.exchange("a", "fanout"), h.exchange("b", "direct")
	other := h.exchange("other", "fanout")
	h.bindExchange(a, b, "")
	h.bindExchange(b, a, "k")
	h.bind(a, "qa", "", nil)
	h.bind(b, "qb", "k", nil)
	h.bind(other, "qo", "", nil)
	b.Publish(b.Routes().WithAlternate("other").WithMaxTTL(7))
	if got, want := h.caps(a, "k", nil), map[string]int64{"qa": 7, "qb": 7}; !maps.Equal(got, want) {
		t.Errorf("in the circle: %v, want %v", got, want)
	}
	if got, want := h.caps(a, "none", nil), map[string]int64{"qa": -1, "qo": 7}; !maps.Equal(got, want) {
		t.Errorf("through the alternate exchange: %v, want %v", got, want)
	}
}

func TestWithMaxTTLKeepsTheTable(t *testing.T) {
	r := newRoutes(t, "direct")
	if r.WithMaxTTL(-1) != r {
		t.Error("no cap is a change")
	}
	c := r.WithMaxTTL(0)
	if c == r || !c.Capped || c.MaxTTL != 0 || c.WithMaxTTL(0) != c || c.WithMaxTTL(5) == c || c.WithMaxTTL(-1).Capped {
		t.Errorf("%+v", c)
	}
}
