package topology

import (
	"strings"

	"candlemark/internal/topology/canonical"
	"candlemark/protocol"
)

// headers matches the arguments of bindings with the headers of a message. [AMQP 3.1.3.4] As in RabbitMQ: x-match
// selects whether all or any of the arguments must match, "all" when absent; arguments whose name begins with "x-" are
// skipped, except that all-with-x and any-with-x skip only x-match itself; an argument without value only requires the
// header to be present; with no arguments left, all matches everything and any nothing.
//
// Bindings are found by the conditions they contain: with any, under each of them; with all, under one of them.
type headers struct {
	always     destinations // all, without a condition
	conditions tree[headerSlot]
}

// headerSlot holds the bindings found by one condition. It is immutable.
type headerSlot struct {
	any destinations
	all tree[*headerRule] // by the binding's id
}

// headerRule is a binding whose conditions must all hold: rest are the conditions other than the one it is found by.
type headerRule struct {
	rest   []condition
	target Target
}

func (m *headers) with(b *bound) matcher {
	match, list := conditionsOf(b.Arguments)
	c := *m
	if match == matchAny {
		c.changeAny(list, b, withDestination)
	} else {
		c.add(list, b)
	}
	return &c
}

func (m *headers) without(b *bound) matcher {
	match, list := conditionsOf(b.Arguments)
	c := *m
	if match == matchAny {
		c.changeAny(list, b, withoutDestination)
	} else {
		c.remove(list, b)
	}
	return &c
}

// add adds a binding whose conditions must all hold. Like remove, changeAny and put it alters a matcher that is not
// published yet.
func (m *headers) add(list []condition, b *bound) {
	if len(list) == 0 {
		m.always = withDestination(m.always, b)
		return
	}
	first, rest := anchor(list)
	key := string(first.append(nil))
	slot, _ := m.conditions.get([]byte(key))
	slot.all = slot.all.with(b.id, &headerRule{rest: rest, target: b.target})
	m.put(key, slot)
}

// remove removes such a binding.
func (m *headers) remove(list []condition, b *bound) {
	if len(list) == 0 {
		m.always = withoutDestination(m.always, b)
		return
	}
	first, _ := anchor(list)
	key := string(first.append(nil))
	slot, _ := m.conditions.get([]byte(key))
	slot.all, _ = slot.all.without(b.id)
	m.put(key, slot)
}

// changeAny applies op to the slots of all conditions of a binding.
func (m *headers) changeAny(list []condition, b *bound, op func(destinations, *bound) destinations) {
	for _, c := range list {
		key := string(c.append(nil))
		slot, _ := m.conditions.get([]byte(key))
		slot.any = op(slot.any, b)
		m.put(key, slot)
	}
}

func (m *headers) put(key string, slot headerSlot) {
	if slot.any.len() == 0 && slot.all.len() == 0 {
		m.conditions, _ = m.conditions.without(key)
	} else {
		m.conditions = m.conditions.with(key, slot)
	}
}

func (m *headers) match(r *Router) {
	r.collect(&m.always)
	if m.conditions.len() > 0 {
		r.collectBy(m, r.decodedFields())
	}
}

// collectBy adds bindings found by the fields of the message.
func (r *Router) collectBy(m *headers, f *fields) {
	if !r.spend(len(f.list)) {
		return
	}
	for i := range f.list {
		r.collectSlot(m, f, f.present(i))
		if !f.isVoid(i) {
			r.collectSlot(m, f, f.equal(i))
		}
	}
}

// collectSlot adds bindings found by one condition that the message fulfils.
func (r *Router) collectSlot(m *headers, f *fields, key []byte) {
	slot, found := m.conditions.get(key)
	if !found {
		return
	}
	r.collect(&slot.any)
	for rule := range slot.all.under("") {
		if !r.spend(1 + len(rule.rest)) {
			return
		}
		if f.fulfil(rule.rest) {
			r.add(rule.target)
		}
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

// anchor picks the condition that a binding is found by: the first that requires a value, since many messages may have
// the header.
func anchor(list []condition) (first condition, rest []condition) {
	at := 0
	for i, c := range list {
		if c.value != "" {
			at = i
			break
		}
	}
	rest = append(append(rest, list[:at]...), list[at+1:]...)
	return list[at], rest
}
