package topology

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"candlemark/protocol"
)

// model is one exchange as a plain list of bindings, matched one by one.
type model struct {
	kind     string
	bindings []Binding
}

func (m *model) index(b Binding) int {
	return slices.IndexFunc(m.bindings, func(a Binding) bool { return reflect.DeepEqual(a, b) })
}

func (m *model) route(key string, sent protocol.Table) []string {
	list := []string{}
	for _, b := range m.bindings {
		if m.matches(b, key, sent) {
			list = append(list, b.Destination)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (m *model) matches(b Binding, key string, sent protocol.Table) bool {
	switch m.kind {
	case "direct":
		return b.RoutingKey == key
	case "topic":
		return naiveTopic(naiveWords(b.RoutingKey), naiveWords(key))
	case "headers":
		return naiveHeaders(b.Arguments, sent)
	}
	return true
}

func naiveWords(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

func naiveTopic(pattern, key []string) bool {
	switch {
	case len(pattern) == 0:
		return len(key) == 0
	case pattern[0] == "#":
		return naiveTopic(pattern[1:], key) || len(key) > 0 && naiveTopic(pattern, key[1:])
	case len(key) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == key[0]) && naiveTopic(pattern[1:], key[1:])
}

func naiveHeaders(args, sent protocol.Table) bool {
	match, _ := args.Get("x-match")
	mode, _ := match.(string)
	for _, f := range args {
		if f.Key == "x-match" || strings.HasPrefix(f.Key, "x-") && !strings.HasSuffix(mode, "-with-x") {
			continue
		}
		got, found := sent.Get(f.Key)
		if holds := found && (f.Value == nil || f.Value == got); holds == strings.HasPrefix(mode, "any") {
			return holds
		}
	}
	return !strings.HasPrefix(mode, "any")
}

// dice draws from small sets, so that bindings meet each other and messages meet bindings.
type dice struct{ *rand.Rand }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) key(kind string) string {
	if kind != "topic" {
		return pick(d, "", "a", "b", "c")
	}
	words := make([]string, d.IntN(5))
	for i := range words {
		words[i] = pick(d, "a", "b", "", "*", "*", "#", "#", fmt.Sprint(d.IntN(40)))
	}
	return strings.Join(words, ".")
}

func (d dice) arguments(kind string) protocol.Table {
	if kind != "headers" {
		return pick(d, nil, nil, nil, table("n", int32(1)), table("n", int64(1)))
	}
	var t protocol.Table
	if d.IntN(4) > 0 {
		t = t.Set("x-match", pick(d, "all", "any", "all-with-x", "any-with-x"))
	}
	return append(t, d.headers(d.IntN(4))...)
}

func (d dice) headers(n int) protocol.Table {
	var t protocol.Table
	for range n {
		t = t.Set(pick(d, "a", "b", "x-c", "x-d"), pick[any](d, "1", "2", int64(1), true, nil))
	}
	return t
}

// Random bindings come and go; the table must always say what the plain list says, and every snapshot taken on the way must still say
// at the end what it said when it was taken.
func TestModel(t *testing.T) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		t.Run(kind, func(t *testing.T) {
			for range 4 {
				seed := rand.Uint64()
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runModel(t, kind, dice{rand.New(rand.NewPCG(seed, 0))}) })
			}
		})
	}
}

func runModel(t *testing.T, kind string, d dice) {
	type snapshot struct {
		routes *Routes
		model  model
	}
	h, now := newHouse(t), snapshot{newRoutes(t, kind), model{kind: kind}}
	var kept []snapshot
	x := &Exchange{Name: "x"}
	routes := func(s snapshot) {
		t.Helper()
		x.Publish(s.routes)
		for range 5 {
			key, sent := d.key(kind), d.headers(d.IntN(4))
			if got, want := h.route(x, key, sent), s.model.route(key, sent); !slices.Equal(got, want) {
				t.Fatalf("key %q, headers %v: got %q, want %q\nof %v", key, sent, got, want, s.model.bindings)
			}
		}
	}
	check := func(s snapshot) {
		t.Helper()
		routes(s)
		if s.routes.Len() != len(s.model.bindings) {
			t.Fatalf("%d bindings, want %d", s.routes.Len(), len(s.model.bindings))
		}
		for b := range s.routes.Bindings() {
			if s.model.index(b) < 0 {
				t.Fatalf("binding %v is too much", b)
			}
		}
	}
	for step := range 1000 {
		b := Binding{Destination: fmt.Sprint("q", d.IntN(30)), RoutingKey: d.key(kind), Arguments: d.arguments(kind)}
		at := now.model.index(b)
		switch {
		case d.IntN(40) == 0:
			now.routes = now.routes.WithoutDestination(b.Destination, false)
			now.model.bindings = slices.DeleteFunc(slices.Clone(now.model.bindings), func(a Binding) bool { return a.Destination == b.Destination })
		case d.IntN(3) > 0:
			next, added := now.routes.With(b, Target{Queue: h.queue(b.Destination)})
			if added != (at < 0) || !added && next != now.routes {
				t.Fatalf("With(%v): added %v", b, added)
			}
			if now.routes = next; added {
				now.model.bindings = append(slices.Clip(now.model.bindings), b)
			}
		default:
			if at < 0 && len(now.model.bindings) > 0 && d.IntN(4) > 0 {
				at = d.IntN(len(now.model.bindings))
				b = now.model.bindings[at]
			}
			next, removed := now.routes.Without(b)
			if removed != (at >= 0) || !removed && next != now.routes {
				t.Fatalf("Without(%v): removed %v", b, removed)
			}
			if now.routes = next; removed {
				now.model.bindings = slices.Concat(now.model.bindings[:at], now.model.bindings[at+1:])
			}
		}
		routes(now)
		if step%50 == 0 {
			check(now)
			kept = append(kept, now)
		}
	}
	for _, s := range kept {
		check(s)
	}
	for _, b := range now.model.bindings {
		now.routes, _ = now.routes.Without(b)
	}
	empty := newRoutes(t, kind)
	if now.routes.Len() != 0 || fmt.Sprintf("%+v", now.routes.matcher) != fmt.Sprintf("%+v", empty.matcher) {
		t.Errorf("an emptied table keeps %+v", now.routes.matcher)
	}
}
