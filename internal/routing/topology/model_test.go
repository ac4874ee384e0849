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
	b.Arguments = inOrder(b.Arguments)
	return slices.IndexFunc(m.bindings, func(a Binding) bool {
		a.Arguments = inOrder(a.Arguments)
		return reflect.DeepEqual(a, b)
	})
}

// inOrder sorts arguments, whose order makes no difference.
func inOrder(args protocol.Table) protocol.Table {
	sorted := slices.Clone(args)
	slices.SortFunc(sorted, func(a, b protocol.Field) int { return strings.Compare(a.Key, b.Key) })
	return sorted
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

// generator draws from small sets, so that bindings overlap and messages match bindings.
type generator struct{ *rand.Rand }

func pick[T any](d generator, from ...T) T { return from[d.IntN(len(from))] }

func (d generator) key(kind string) string {
	if kind != "topic" {
		return pick(d, "", "a", "b", "c")
	}
	words := make([]string, d.IntN(5))
	for i := range words {
		words[i] = pick(d, "a", "b", "", "*", "*", "#", "#", fmt.Sprint(d.IntN(40)))
	}
	return strings.Join(words, ".")
}

func (d generator) arguments(kind string) protocol.Table {
	if kind != "headers" {
		return pick(d, nil, nil, nil, table("n", int32(1)), table("n", int64(1)))
	}
	var t protocol.Table
	if d.IntN(4) > 0 {
		t = t.Set("x-match", pick(d, "all", "any", "all-with-x", "any-with-x"))
	}
	return append(t, d.headers(d.IntN(4))...)
}

func (d generator) headers(n int) protocol.Table {
	var t protocol.Table
	for range n {
		t = t.Set(pick(d, "a", "b", "x-c", "x-d"), pick[any](d, "1", "2", int64(1), true, nil))
	}
	return t
}

// Random bindings are added and removed; the table always equals the plain list, and in the end every snapshot still
// equals the list at its time.
func TestModel(t *testing.T) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		t.Run(kind, func(t *testing.T) {
			for range 4 {
				seed := rand.Uint64()
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runModel(t, kind, generator{rand.New(rand.NewPCG(seed, 0))}) })
			}
		})
	}
}

// state is a table and the list that it must equal.
type state struct {
	routes *BindingTable
	model  model
}

func runModel(t *testing.T, kind string, d generator) {
	h, now := newFixture(t), state{newRoutes(t, kind), model{kind: kind}}
	var kept []state
	for step := range 600 {
		now = now.step(h, d)
		now.checkRoutes(h, d)
		if step%50 == 0 {
			kept = append(kept, now)
		}
	}
	for _, s := range append(kept, now) {
		s.checkRoutes(h, d)
		s.checkBindings(h)
	}
	for _, b := range now.model.bindings {
		now.routes, _ = now.routes.Without(b)
	}
	empty := newRoutes(t, kind)
	if now.routes.Len() != 0 || fmt.Sprintf("%+v", now.routes.matcher) != fmt.Sprintf("%+v", empty.matcher) {
		t.Errorf("an emptied table keeps %+v", now.routes.matcher)
	}
}

// step makes one random change to both.
func (s state) step(h *fixture, d generator) state {
	h.t.Helper()
	b := Binding{Destination: fmt.Sprint("q", d.IntN(30)), RoutingKey: d.key(s.model.kind), Arguments: d.arguments(s.model.kind)}
	at, was, list := s.model.index(b), s.routes, s.model.bindings
	var changed bool
	switch {
	case d.IntN(40) == 0:
		s.routes = s.routes.WithoutDestination(b.Destination, false)
		s.model.bindings = slices.DeleteFunc(slices.Clone(list), func(a Binding) bool { return a.Destination == b.Destination })
		return s
	case d.IntN(3) > 0:
		s.routes, changed = s.routes.With(b, Target{Queue: h.queue(b.Destination)})
		if at < 0 {
			s.model.bindings = append(slices.Clip(list), b)
		}
	default:
		if at < 0 && len(list) > 0 && d.IntN(4) > 0 {
			at = d.IntN(len(list))
			b = list[at]
		}
		s.routes, changed = s.routes.Without(b)
		if at >= 0 {
			s.model.bindings = slices.Concat(list[:at], list[at+1:])
		}
	}
	if changed != (len(s.model.bindings) != len(list)) || changed == (s.routes == was) {
		h.t.Fatalf("binding %v: changed %v", b, changed)
	}
	return s
}

// checkRoutes routes a few random messages.
func (s state) checkRoutes(h *fixture, d generator) {
	h.t.Helper()
	x := &Exchange{Name: "x"}
	x.Publish(s.routes)
	for range 5 {
		key, sent := d.key(s.model.kind), d.headers(d.IntN(4))
		if got, want := h.route(x, key, sent), s.model.route(key, sent); !slices.Equal(got, want) {
			h.t.Fatalf("key %q, headers %v: got %q, want %q\nof %v", key, sent, got, want, s.model.bindings)
		}
	}
}

// checkBindings compares the lists of bindings.
func (s state) checkBindings(h *fixture) {
	h.t.Helper()
	if s.routes.Len() != len(s.model.bindings) {
		h.t.Fatalf("%d bindings, want %d", s.routes.Len(), len(s.model.bindings))
	}
	for b := range s.routes.Bindings() {
		if s.model.index(b) < 0 {
			h.t.Fatalf("binding %v is too much", b)
		}
	}
}
