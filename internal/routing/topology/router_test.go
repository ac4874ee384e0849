package topology

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/protocol"
)

func TestDirectMatches(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "direct")
	h.bind(x, "q1", "a", nil)
	h.bind(x, "q2", "a", nil)
	h.bind(x, "q2", "b", nil)
	h.bind(x, "q2", "b", table("n", int32(1)))
	h.bind(x, "q3", "", nil)
	h.expect(x, "a", "q1", "q2")
	h.expect(x, "b", "q2")
	h.expect(x, "", "q3")
	h.expect(x, "ab")
	h.expect(x, "*")

	// q2 matches b until both of its bindings are removed.
	r, _ := x.Routes().Without(Binding{Destination: "q2", RoutingKey: "b"})
	x.Publish(r)
	h.expect(x, "b", "q2")
	r, _ = r.Without(Binding{Destination: "q2", RoutingKey: "b", Arguments: table("n", int32(1))})
	x.Publish(r)
	h.expect(x, "b")
}

func TestFanoutMatches(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "fanout")
	h.expect(x, "a")
	var want []string
	for i := range 100 {
		name := fmt.Sprintf("q%02d", i)
		want = append(want, name)
		h.bind(x, name, "", nil)
		h.bind(x, name, "another key", nil)
		h.expect(x, "whatever", want...)
	}
	for i := range 100 {
		x.Publish(x.Routes().WithoutDestination(want[i], false))
		h.expect(x, "whatever", want[i+1:]...)
	}
}

func TestDEC10DefaultExchange(t *testing.T) {
	h := newFixture(t)
	x := h.directory.Exchange(nil)
	h.queue("q")
	h.queue("")
	h.expect(x, "q", "q")
	h.expect(x, "", "")
	h.expect(x, "unknown")
	h.directory = h.directory.WithoutQueue("q")
	h.expect(x, "q")
}

func TestRouteFollowsExchanges(t *testing.T) {
	h := newFixture(t)
	a, b, c := h.exchange("a", "direct"), h.exchange("b", "topic"), h.exchange("c", "fanout")
	h.bindExchange(a, b, "k.1")
	h.bindExchange(b, c, "k.*")
	h.bindExchange(c, a, "") // a cycle
	h.bindExchange(c, c, "") // a self-loop
	h.bind(a, "qa", "k.1", nil)
	h.bind(b, "qb", "#", nil)
	h.bind(c, "qc", "", nil)
	h.bind(c, "qa", "", nil)
	h.expect(a, "k.1", "qa", "qb", "qc")
	h.expect(a, "k.2")
	h.expect(b, "k.2", "qa", "qb", "qc")
	h.expect(c, "k.1", "qa", "qb", "qc")
	h.expect(b, "other", "qb")
}

func TestRouteAcrossManyExchanges(t *testing.T) {
	h := newFixture(t)
	first := h.exchange("first", "fanout")
	var want []string
	for i := range 200 {
		x := h.exchange(fmt.Sprintf("x%03d", i), "fanout")
		name := fmt.Sprintf("q%03d", i)
		want = append(want, name)
		h.bindExchange(first, x, "")
		h.bindExchange(x, first, "")
		for j := range 5 {
			h.bind(x, fmt.Sprintf("q%03d", max(0, i-j)), fmt.Sprint(j), nil)
		}
	}
	h.expect(first, "", want...)
	h.expect(first, "", want...)
}

func TestDEC14AlternateExchange(t *testing.T) {
	h := newFixture(t)
	a, b, c := h.exchange("a", "direct"), h.exchange("b", "direct"), h.exchange("c", "fanout")
	alternate := func(x *Exchange, name string) { x.Publish(x.Routes().WithAlternate(name)) }
	h.bind(a, "qa", "a", nil)
	h.bind(b, "qb", "b", nil)
	alternate(a, "b")
	h.expect(a, "a", "qa")
	h.expect(a, "b", "qb")
	h.expect(a, "c")

	alternate(b, "c") // recursively
	h.bind(c, "qc", "", nil)
	h.expect(a, "c", "qc")

	alternate(c, "a") // cycles are cut
	alternate(b, "a")
	h.expect(a, "c")

	alternate(a, "missing")
	h.expect(a, "b")

	alternate(a, "b") // evaluated at each exchange: a matches b; b matches nothing and uses c
	alternate(b, "c")
	h.bindExchange(a, b, "x")
	h.expect(a, "x", "qc")

	alternate(a, "") // removed
	h.expect(a, "b")
	if got := a.Routes().Alternate; got != "" {
		t.Errorf("alternate %q", got)
	}
}

func TestDEC14MatchedByAnExchangeWithoutQueuesIsMatched(t *testing.T) {
	h := newFixture(t)
	a, empty, other := h.exchange("a", "fanout"), h.exchange("empty", "fanout"), h.exchange("other", "fanout")
	h.bind(other, "q", "", nil)
	h.bindExchange(a, empty, "")
	a.Publish(a.Routes().WithAlternate("other"))
	h.expect(a, "k")
}

func TestRouteAllKeys(t *testing.T) {
	h := newFixture(t)
	x, other := h.exchange("x", "direct"), h.exchange("other", "fanout")
	topics := h.exchange("t", "topic")
	h.bind(x, "q1", "a", nil)
	h.bind(x, "q1", "b", nil)
	h.bind(x, "q2", "b", nil)
	h.bind(other, "q3", "", nil)
	h.bind(topics, "q1", "a.#", nil)
	h.bind(topics, "q2", "*", nil)
	x.Publish(x.Routes().WithAlternate("other"))
	for _, test := range []struct {
		x    *Exchange
		keys []string
		want []string
	}{
		{x, []string{"a", "b"}, []string{"q1", "q2"}},
		{x, []string{"nobody", "a"}, []string{"q1"}}, // no alternate: one key matched
		{x, []string{"nobody", "none"}, []string{"q3"}},
		{topics, []string{"a.b", "c", "a"}, []string{"q1", "q2"}},
		{h.directory.Exchange(nil), []string{"q2", "q2", "q9", "q3"}, []string{"q2", "q3"}},
		{other, nil, []string{"q3"}},
	} {
		var keys [][]byte
		for _, k := range test.keys {
			keys = append(keys, []byte(k))
		}
		if got := namesOf(t, h.router.RouteAll(h.directory, test.x, keys, nil)); !slices.Equal(got, test.want) {
			t.Errorf("exchange %q, keys %q: got %q, want %q", test.x.Name, test.keys, got, test.want)
		}
	}
}

// In steady state routing does not allocate, not even to many queues.
func TestRouteDoesNotAllocate(t *testing.T) {
	h := newFixture(t)
	d, f, p, many, over := h.exchange("d", "direct"), h.exchange("f", "fanout"), h.exchange("p", "topic"), h.exchange("many", "fanout"), h.exchange("over", "direct")
	for i := range 500 {
		h.bind(d, fmt.Sprint("q", i), fmt.Sprint("key.", i), nil)
		h.bind(p, fmt.Sprint("q", i), fmt.Sprintf("key.%d.#", i), nil)
		h.bind(p, fmt.Sprint("q", i), fmt.Sprintf("*.%d", i), nil)
		h.bind(many, fmt.Sprint("q", i), "", nil)
	}
	for i := range 3 {
		h.bind(f, fmt.Sprint("q", i), "", nil)
	}
	h.bindExchange(f, many, "")
	over.Publish(over.Routes().WithAlternate("d"))
	for _, test := range []struct {
		x    *Exchange
		key  string
		want int
	}{
		{h.directory.Exchange(nil), "q7", 1},
		{d, "key.7", 1},
		{f, "", 500},
		{p, "key.7", 1},
		{p, "key.7.x", 1},
		{many, "", 500},
		{over, "key.8", 1},
		{d, "none", 0},
	} {
		key, decode := []byte(test.key), func() protocol.Table { return nil }
		got := 0
		allocations := testing.AllocsPerRun(100, func() { got = len(h.router.Route(h.directory, test.x, key, decode)) })
		if allocations != 0 || got != test.want {
			t.Errorf("exchange %q, key %q: %v allocations, %d queues, want 0 and %d", test.x.Name, test.key, allocations, got, test.want)
		}
	}
}
