package topology

import (
	"strings"

	"candlemark/internal/routing/topology/canonical"
	"candlemark/protocol"
)

// headers matches the arguments of bindings with the headers of a message. [AMQP 3.1.3.4] As in RabbitMQ: x-match
// selects whether all or any of the arguments must match, "all" when absent; arguments whose name begins with "x-" are
// skipped, except that all-with-x and any-with-x skip only x-match itself; an argument without value only requires the
// header to be present; with no arguments left, all matches everything and any nothing.
//
// With any, a binding is found by each of its conditions. With all, bindings that require the same headers are in one
// table by the values that they require, so that a message is looked up once for any number of bindings.
type headers struct {
	always destinations             // all, without a condition
	any    tree[destinations]       // by one condition
	all    tree[tree[*combination]] // by the name of the first header, then by all
	names  int                      // number of headers in all combinations, and of combinations
}

// combination is a set of headers that bindings require. It is immutable.
type combination struct {
	conditions []condition        // values do not matter, only whether there is one
	found      tree[destinations] // by the values
}

func (m *headers) with(b *bound) matcher {
	c := *m
	c.change(conditionsOf, b, withDestination)
	return &c
}

func (m *headers) without(b *bound) matcher {
	c := *m
	c.change(conditionsOf, b, withoutDestination)
	return &c
}

func (m *headers) loads() []load {
	return []load{{m.names, TurnSteps / 2, "the names in all different combinations of headers that its bindings require"}}
}

// change applies op to the destinations of a binding with certain conditions. The matcher is not published yet.
func (m *headers) change(of func(protocol.Table) (int, []condition), b *bound, op func(destinations, *bound) destinations) {
	match, list := of(b.Arguments)
	switch {
	case match == matchAny:
		for _, c := range list {
			m.any = changed(m.any, string(c.append(nil)), b, op)
		}
	case len(list) == 0:
		m.always = op(m.always, b)
	default:
		m.changeAll(list, b, op)
	}
}

// changed returns t with op applied to the destinations of key; empty ones are removed.
func changed(t tree[destinations], key string, b *bound, op func(destinations, *bound) destinations) tree[destinations] {
	set, _ := t.get([]byte(key))
	if set = op(set, b); set.len() > 0 {
		return t.with(key, set)
	}
	t, _ = t.without(key)
	return t
}

// changeAll applies op to a binding whose conditions, of which there are some, must all hold.
func (m *headers) changeAll(list []condition, b *bound, op func(destinations, *bound) destinations) {
	var names, values []byte
	for _, c := range list {
		names, values = canonical.Text(names, c.key), append(values, c.value...)
		names = append(names, byte(min(len(c.value), 1)))
	}
	first := list[0].key
	group, _ := m.all.get([]byte(first))
	old, known := group.get(names)
	if !known {
		old = &combination{conditions: list}
		m.names += 1 + len(list)
	}
	next := &combination{conditions: old.conditions, found: changed(old.found, string(values), b, op)}
	if next.found.len() > 0 {
		group = group.with(string(names), next)
	} else {
		group, _ = group.without(string(names))
		m.names -= 1 + len(list)
	}
	if group.len() > 0 {
		m.all = m.all.with(first, group)
	} else {
		m.all, _ = m.all.without(first)
	}
}

func (m *headers) match(r *Router) {
	r.collect(&m.always)
	if m.conditional() {
		r.collectBy(m, r.decodedFields())
	}
}

// conditional reports whether there are bindings with conditions.
func (m *headers) conditional() bool { return m.any.len()+m.all.len() > 0 }

// collectBy adds bindings found by the fields of the message.
func (r *Router) collectBy(m *headers, f *fields) {
	if !r.spend(len(f.list)) {
		return
	}
	for i := range f.list {
		if m.any.len() > 0 {
			r.collectKey(&m.any, f.present(i))
			if !f.isVoid(i) {
				r.collectKey(&m.any, f.equal(i))
			}
		}
		group, _ := m.all.get(f.name(i))
		for c := range group.under("") {
			if !r.compare(1 + len(c.conditions)) {
				return
			}
			if f.values(c.conditions) {
				r.collectKey(&c.found, f.key)
			}
		}
	}
}

func (r *Router) collectKey(t *tree[destinations], key []byte) {
	if set, found := t.get(key); found {
		r.collect(&set)
	}
}

// decodedFields returns the headers of the current publish, decoded by the first call.
func (r *Router) decodedFields() *fields {
	if !r.loaded {
		r.loaded = true
		r.fields.load(r.table())
	}
	return &r.fields
}

// table returns the headers of the current publish, nil if there are none.
func (r *Router) table() protocol.Table {
	if !r.asked {
		r.asked = true
		if r.headers != nil {
			r.decoded = r.headers()
		}
	}
	return r.decoded
}

// The two ways to combine conditions.
const (
	matchAll = iota
	matchAny
)

// condition requires a header: with this encoded value, or any value when value is empty.
type condition struct {
	key, value string
}

// append appends the encoding by which conditions are found; fields use the same.
func (c condition) append(dst []byte) []byte {
	dst = canonical.Text(dst, c.key)
	if c.value == "" {
		return append(dst, canonical.Void)
	}
	return append(dst, c.value...)
}

// conditionsOf reads the arguments of a binding. An x-match that ValidateBinding would refuse counts as all.
func conditionsOf(args protocol.Table) (match int, list []condition) {
	mode, _ := args.Get("x-match")
	withX := mode == "all-with-x" || mode == "any-with-x"
	if mode == "any" || mode == "any-with-x" {
		match = matchAny
	}
	for _, f := range sortedFields(args) {
		if f.Key == "x-match" || !withX && strings.HasPrefix(f.Key, "x-") {
			continue
		}
		c := condition{key: f.Key}
		if f.Value != nil {
			c.value = string(canonical.Value(nil, f.Value))
		}
		list = append(list, c)
	}
	return match, list
}
