package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/protocol"
)

// costlyPattern returns one of many patterns, all of whose parts a key of many words "a" keeps apart.
func costlyPattern(i int) string {
	words := []string{"#"}
	for bit := range 61 {
		words = append(words, []string{"a", "*"}[i>>(bit%12)&1], "#")
	}
	return strings.Join(append(words, "b"), ".")
}

// bindIfPermitted binds a queue like an exchange's actor, and reports whether it was permitted.
func (h *fixture) bindIfPermitted(x *Exchange, b Binding) bool {
	r, _ := x.Routes().With(b, Target{Queue: h.queue(b.Destination)})
	if r.CheckLoad(x.Routes(), x.Name, "/") != nil {
		return false
	}
	x.Publish(r)
	return true
}

// TestCostlyPatternsAreRefused_DEC19: bindings that would make publishes fail are refused.
func TestCostlyPatternsAreRefused_DEC19(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "topic")
	h.bind(x, "victim", "#.a", nil)
	refused := 0
	for i := range 700 {
		if !h.bindIfPermitted(x, Binding{Destination: fmt.Sprint("q", i), RoutingKey: costlyPattern(i)}) {
			refused++
		}
	}
	h.router.pause = func() bool { return true }
	got := h.route(x, strings.Repeat("a.", 127)+"a", nil)
	if refused < 680 || h.router.Over() || h.router.Steps() > maxKeySteps || len(got) != 1 {
		t.Errorf("%d refused; over %v after %d steps, to %v", refused, h.router.Over(), h.router.Steps(), got)
	}
	for i := range 10_000 { // many that cost little are permitted
		for _, key := range []string{"a.%d.b", "#.%d.#", "*.%d.#", "%d.#.end"} {
			if !h.bindIfPermitted(x, Binding{Destination: "q", RoutingKey: fmt.Sprintf(key, i)}) {
				t.Fatalf("%s was refused as number %d", key, i)
			}
		}
	}
}

// TestLoadOfPatterns_DEC19: for any patterns and keys, the comparisons are no more than the load, and the load does not
// depend on the order of changes.
func TestLoadOfPatterns_DEC19(t *testing.T) {
	seed := rand.Uint64()
	d := generator{rand.New(rand.NewPCG(seed, 0))}
	draw := func(most int, from ...string) string {
		words := make([]string, 1+d.IntN(most))
		for i := range words {
			words[i] = pick(d, from...)
		}
		return strings.Join(words, ".")
	}
	for range 20 {
		h := newFixture(t)
		r := newRoutes(t, "topic")
		for range 200 {
			b := Binding{Destination: "q", RoutingKey: draw(8, "a", "b", "*", "#")}
			if r, _ = r.With(b, Target{Queue: h.queue("q")}); d.IntN(3) == 0 {
				r, _ = r.Without(b)
			}
		}
		x := h.exchange("x", "topic")
		x.Publish(r)
		load := r.matcher.loads()[0].n
		for range 50 {
			h.router.Route(h.directory, x, []byte(draw(d.IntN(255)+1, "a", "b", "c")), nil)
			collected := 2 + r.Len()
			if h.router.Steps() > load+collected {
				t.Fatalf("seed %d: %d steps, load %d", seed, h.router.Steps(), load)
			}
		}
		again := newRoutes(t, "topic")
		for b := range r.Bindings() {
			again, _ = again.With(b, Target{Queue: h.queue("q")})
		}
		if n := again.matcher.loads()[0].n; n != load {
			t.Fatalf("seed %d: load %d, of the same bindings without changes %d", seed, load, n)
		}
		if r = r.WithoutDestination("q", false); r.matcher.loads()[0].n != 0 {
			t.Fatalf("seed %d: load %d of nothing", seed, r.matcher.loads()[0].n)
		}
	}
}

// TestSharedCondition_DEC19: bindings that share a condition are not compared one by one.
func TestSharedCondition_DEC19(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "headers")
	r := x.Routes()
	for i := range 10_000 {
		name := fmt.Sprint("q", i)
		r, _ = r.With(Binding{Destination: name, Arguments: table("kind", "k", "n", int64(i))}, Target{Queue: h.queue(name)})
	}
	x.Publish(r)
	if got := h.route(x, "", table("n", int64(77), "kind", "k")); !slices.Equal(got, []string{"q77"}) || h.router.Steps() > 20 {
		t.Errorf("%v in %d steps", got, h.router.Steps())
	}
}

// TestCombinationsOfHeadersAreBounded_DEC19: different combinations are, and further bindings with the same ones are permitted.
func TestCombinationsOfHeadersAreBounded_DEC19(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "headers")
	permitted := 0
	for i := range 20_000 {
		if h.bindIfPermitted(x, Binding{Destination: "q", Arguments: table("a", "1", fmt.Sprint("b", i), "2")}) {
			permitted++
		}
	}
	if permitted != TurnSteps/6 {
		t.Errorf("%d", permitted)
	}
	h.router.Route(h.directory, x, nil, func() protocol.Table { return table("a", "1") })
	if h.router.Over() {
		t.Error("over")
	}
	if !h.bindIfPermitted(x, Binding{Destination: "other", Arguments: table("a", "2", "b0", "1")}) {
		t.Error("a known combination was refused")
	}
}

// TestExpressionsAreBounded_SBR2: an exchange has a limited number of expressions, which leaves steps to each.
func TestExpressionsAreBounded_SBR2(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", filter.ExchangeType)
	for i := range maxExpressions + 1 {
		if h.bindIfPermitted(x, Binding{Destination: "q", RoutingKey: fmt.Sprint(i), Arguments: table("x-rule-sql", "a = 1")}) != (i < maxExpressions) {
			t.Fatal(i)
		}
	}
}

// TestChainsArePaidByTheirBinder_DEC19: exchanges behind the one of a publish share a limit, so that expensive ones are cut
// off and counted, and others match as before.
func TestChainsArePaidByTheirBinder_DEC19(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "fanout")
	var chain []*Exchange
	for i := range 50 {
		c := h.exchange(fmt.Sprint("costly", i), filter.ExchangeType)
		r := c.Routes()
		for j := range 100 {
			b := Binding{Destination: "q", RoutingKey: fmt.Sprint(j), Arguments: table("x-rule-sql", "'"+strings.Repeat("a", 300)+"' LIKE '%"+strings.Repeat("a", 60)+"b'")}
			r, _ = r.With(b, Target{Queue: h.queue("q")})
		}
		c.Publish(r)
		h.bindExchange(x, c, "")
		chain = append(chain, c)
	}
	ttl := h.exchange("ttl", "fanout")
	ttl.Publish(ttl.Routes().WithMaxTTL(1000))
	h.bindExchange(x, ttl, "")
	good := h.exchange("good", filter.ExchangeType)
	h.bindExchange(ttl, good, "")
	r, _ := good.Routes().With(Binding{Destination: "victim", RoutingKey: "r", Arguments: table("x-rule-sql", "color LIKE 'r%'")}, Target{Queue: h.queue("victim")})
	good.Publish(r)
	costly, v := h.queue("q"), NewVHost("/")
	costly.Stats = v.NewQueueStats("q")
	for _, x := range chain {
		x.VHost = v
	}
	h.router.pause = func() bool { return true }
	got := h.caps(x, "", table("color", "red"))
	if h.router.Over() || len(got) != 1 || got["victim"] != 1000 || h.router.Steady() {
		t.Errorf("over %v after %d steps, to %v, steady %v", h.router.Over(), h.router.Steps(), got, h.router.Steady())
	}
	if n := costly.Stats.CostlyRules(); n != 50*100 || v.CostlyRules() != n || v.SkippedBindings() != 50 {
		t.Errorf("%d evaluations, %d and %d in all", n, v.CostlyRules(), v.SkippedBindings())
	}
	if good.Skipped() != 0 || chain[0].Skipped() != 1 || chain[49].Skipped() != 1 {
		t.Errorf("skipped %d, %d, %d", good.Skipped(), chain[0].Skipped(), chain[49].Skipped())
	}
}

// TestManyKeysAreNotRefused_DEC19: whatever is bound to an exchange, a publish with up to maxWords words in its keys is not
// refused, and one with more is, whatever is bound.
func TestManyKeysAreNotRefused_DEC19(t *testing.T) {
	h := newFixture(t)
	h.router.pause = func() bool { return true }
	x := h.exchange("x", "topic")
	bind := func(words []string) bool {
		return h.bindIfPermitted(x, Binding{Destination: "q", RoutingKey: strings.Join(words, ".")})
	}
	either := func(i, bits int) (words []string) {
		for bit := range bits {
			words = append(words, []string{"a", "*"}[i>>bit&1])
		}
		return words
	}
	const bits = 10
	for i := range 1 << bits { // behind each beginning, all endings
		if !bind(slices.Concat(either(i, bits/2), []string{"#"}, either(i>>(bits/2), bits-bits/2))) {
			t.Fatal(i)
		}
	}
	for i := range 1 << 13 { // until nothing more is permitted
		if bind(append(either(i, 5), "#", fmt.Sprint(i), "#")); !bind(either(i, 13)) {
			break
		}
	}
	front := h.exchange("front", "fanout")
	h.bindExchange(front, x, "")
	for _, words := range []int{1, 2, 13, 15, 20, 200} {
		var keys [][]byte
		for len(keys) < maxWords/words {
			keys = append(keys, []byte(strings.Repeat("a.", words-1)+"a"))
		}
		h.router.RouteAll(h.directory, x, keys, nil)
		if steps := h.router.steps - h.router.free; h.router.Over() || h.router.Refusal() != nil || steps > MaxSteps-2*chainSteps {
			t.Errorf("%d keys of %d words: over %v after %d steps, %v", len(keys), words, h.router.Over(), steps, h.router.Refusal())
		}
		h.router.RouteAll(h.directory, front, append(keys, keys...), nil)
		if h.router.Over() || h.router.Refusal() != nil {
			t.Errorf("%d keys of %d words, behind: over %v, %v", 2*len(keys), words, h.router.Over(), h.router.Refusal())
		}
		h.router.RouteAll(h.directory, x, append(keys, keys[0], keys[0]), nil)
		if err := h.router.Refusal(); (err == nil) != (words*(len(keys)+2) <= maxWords) {
			t.Errorf("%d keys of %d words: %v", len(keys)+2, words, err)
		}
	}
	h.router.RouteAll(h.directory, h.exchange("d", "direct"), make([][]byte, 20_000), nil)
	if h.router.Over() || h.router.Refusal() != nil {
		t.Error("a direct exchange has refused many keys")
	}
}

// TestDestinationsAreFoundOnce_DEC19: several keys find each set of destinations once, and no number of them is refused.
func TestDestinationsAreFoundOnce_DEC19(t *testing.T) {
	h := newFixture(t)
	const many = 30_000
	x := h.exchange("x", "topic")
	r := x.Routes()
	for i := range many {
		q := h.queue(fmt.Sprint("q", i))
		r, _ = r.With(Binding{Destination: q.Name, RoutingKey: "#"}, Target{Queue: q})
	}
	r, _ = r.With(Binding{Destination: "few", RoutingKey: "a.#"}, Target{Queue: h.queue("few")})
	x.Publish(r)
	h.router.pause = func() bool { return true }
	var keys [][]byte
	for i := range maxWords / 2 {
		keys = append(keys, fmt.Appendf(nil, "a.%d", i))
	}
	for range 2 {
		got := h.router.RouteAll(h.directory, x, keys, nil)
		if h.router.Over() || len(got) != many+1 || h.router.Steps() > many+10*len(keys) {
			t.Errorf("%d queues, over %v after %d steps", len(got), h.router.Over(), h.router.Steps())
		}
	}
	if len(h.router.sets.list) != 0 {
		t.Error("sets are kept")
	}
	if h.router.spend(MaxSteps) || !h.router.over {
		t.Error("comparisons have no limit")
	}
}
