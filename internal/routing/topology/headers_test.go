package topology

import (
	"slices"
	"testing"

	"candlemark/protocol"
)

// table makes a field table of keys and values in turn.
func table(keysAndValues ...any) protocol.Table {
	var t protocol.Table
	for i := 0; i < len(keysAndValues); i += 2 {
		t = append(t, protocol.Field{Key: keysAndValues[i].(string), Value: keysAndValues[i+1]})
	}
	return t
}

func TestHeadersMatch(t *testing.T) {
	all, any2 := table("x-match", "all", "a", "1", "b", "2"), table("x-match", "any", "a", "1", "b", "2")
	allX, anyX := table("x-match", "all-with-x", "a", "1", "x-b", "2"), table("x-match", "any-with-x", "a", "1", "x-b", "2")
	tests := []struct {
		name          string
		binding, sent protocol.Table
		want          bool
	}{
		{"all: every one is there", all, table("b", "2", "c", "3", "a", "1"), true},
		{"all: one is missing", all, table("a", "1"), false},
		{"all: one differs", all, table("a", "1", "b", "3"), false},
		{"all: no headers", all, nil, false},
		{"any: one is there", any2, table("b", "2"), true},
		{"any: one differs, one is there", any2, table("a", "9", "b", "2"), true},
		{"any: all differ", any2, table("a", "9", "b", "9", "c", "1"), false},
		{"any: no headers", any2, nil, false},
		{"no x-match is all: every one is there", table("a", "1", "b", "2"), table("a", "1", "b", "2"), true},
		{"no x-match is all: one is missing", table("a", "1", "b", "2"), table("a", "1"), false},
		{"a bad x-match counts as all", table("x-match", int32(1), "a", "1"), table("a", "1"), true},
		{"no arguments match everything", nil, table("a", "1"), true},
		{"no arguments match no headers", nil, nil, true},
		{"all without conditions matches everything", table("x-match", "all"), nil, true},
		{"any without conditions matches nothing", table("x-match", "any"), table("a", "1"), false},
		{"all: x- is skipped", table("x-match", "all", "x-a", "1", "b", "2"), table("b", "2"), true},
		{"all: only x-, so no condition", table("x-match", "all", "x-a", "1"), nil, true},
		{"any: x- is skipped", table("x-match", "any", "x-a", "1"), table("x-a", "1"), false},
		{"all-with-x: x- counts", allX, table("a", "1", "x-b", "2"), true},
		{"all-with-x: x- is missing", allX, table("a", "1"), false},
		{"any-with-x: x- counts", anyX, table("x-b", "2"), true},
		{"any-with-x: x- differs", anyX, table("x-b", "1"), false},
		{"with x: x-match itself is skipped", allX, table("a", "1", "x-b", "2", "x-match", "other"), true},
		{"all: void asks for presence", table("a", nil, "b", "2"), table("a", int64(7), "b", "2"), true},
		{"all: void is missing", table("a", nil, "b", "2"), table("b", "2"), false},
		{"all: only void, there without a value", table("a", nil), table("a", nil), true},
		{"any: void asks for presence", table("x-match", "any", "a", nil), table("a", "whatever"), true},
		{"any: void is missing", table("x-match", "any", "a", nil), table("b", nil), false},
		{"a header without value equals no value", table("a", "1"), table("a", nil), false},
		{"the last of equal headers counts", table("a", "1"), table("a", "2", "a", "1"), true},
		{"not the first of equal headers", table("a", "1"), table("a", "1", "a", "2"), false},
		{"equal arguments that contradict", table("a", "1", "a", "2"), table("a", "1"), false},
		{"names and values are distinguished", table("a", "bc"), table("ab", "c"), false},
		{"an empty text is a value", table("a", ""), table("a", "x"), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newFixture(t)
			x := h.exchange("x", "headers")
			h.bind(x, "q", "", test.binding)
			if got := len(h.route(x, "", test.sent)) == 1; got != test.want {
				t.Errorf("binding %v, headers %v: matched %v", test.binding, test.sent, got)
			}
			r, ok := x.Routes().Without(Binding{Destination: "q", Arguments: test.binding})
			m := r.matcher.(*headers)
			if !ok || r.Len() != 0 || m.always.len() != 0 || m.conditional() || m.names != 0 {
				t.Errorf("after unbinding: ok %v, left %+v", ok, m)
			}
		})
	}
}

func TestHeadersValuesOfOneClassAreEqual(t *testing.T) {
	nested := protocol.Table{{Key: "n", Value: protocol.Array{int32(1), "s"}}}
	tests := []struct {
		name string
		a, b any
		want bool
	}{
		{"byte and long", int8(5), int64(5), true},
		{"unsigned byte and signed int", uint8(200), int32(200), true},
		{"short and unsigned int", int16(-1), uint32(0xffffffff), false},
		{"unsigned short and unsigned int", uint16(7), uint32(7), true},
		{"negative short and long", int16(-1), int64(-1), true},
		{"int and text", int32(1), "1", false},
		{"int and double", int32(1), float64(1), false},
		{"float and double", float32(1.5), float64(1.5), true},
		{"float and double that it only resembles", float32(0.1), float64(0.1), false},
		{"text and binary", "ab", []byte("ab"), true},
		{"text and other text", "ab", "abc", false},
		{"bool", true, true, true},
		{"bool and other bool", true, false, false},
		{"bool and text", true, "true", false},
		{"bool and int", true, int8(1), false},
		{"timestamp", protocol.Timestamp(9), protocol.Timestamp(9), true},
		{"timestamp and long", protocol.Timestamp(9), int64(9), false},
		{"decimal", protocol.Decimal{Scale: 1, Value: 10}, protocol.Decimal{Scale: 1, Value: 10}, true},
		{"decimal of equal worth, other scale", protocol.Decimal{Scale: 1, Value: 10}, protocol.Decimal{Scale: 0, Value: 1}, false},
		{"table", nested, nested, true},
		{"table with another type inside", nested, protocol.Table{{Key: "n", Value: protocol.Array{int64(1), "s"}}}, false},
		{"array and shorter array", protocol.Array{"a", "b"}, protocol.Array{"a"}, false},
	}
	for _, test := range tests {
		for _, match := range []string{"all", "any"} {
			t.Run(match+": "+test.name, func(t *testing.T) {
				h := newFixture(t)
				x := h.exchange("x", "headers")
				h.bind(x, "q", "", table("x-match", match, "first", "1", "h", test.a))
				// With all, first must match as well: the binding is found by it.
				first := map[string]any{"all": "1", "any": "2"}[match]
				if got := len(h.route(x, "", table("first", first, "h", test.b))) == 1; got != test.want {
					t.Errorf("%#v and %#v: equal %v", test.a, test.b, got)
				}
			})
		}
	}
}

func TestHeadersManyBindings(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "headers")
	h.bind(x, "everything", "", nil)
	for i := range int32(100) {
		h.bind(x, "all", "", table("n", i, "kind", "k"))
		h.bind(x, "any", "", table("x-match", "any", "n", i, "kind", "k"))
	}
	for _, test := range []struct {
		sent protocol.Table
		want []string
	}{
		{table("n", int64(3), "kind", "k"), []string{"all", "any", "everything"}},
		{table("n", int64(3)), []string{"any", "everything"}},
		{table("n", int64(100)), []string{"everything"}},
		{nil, []string{"everything"}},
	} {
		if got := h.route(x, "", test.sent); !slices.Equal(got, test.want) {
			t.Errorf("headers %v: got %q, want %q", test.sent, got, test.want)
		}
	}
}

func TestHeadersAreDecodedOnce(t *testing.T) {
	h := newFixture(t)
	plain, first, second := h.exchange("plain", "fanout"), h.exchange("first", "headers"), h.exchange("second", "headers")
	h.bind(plain, "q0", "", nil)
	h.bind(first, "q1", "", table("a", "1"))
	h.bind(second, "q2", "", table("a", "1"))
	calls := 0
	sent := func() protocol.Table { calls++; return table("a", "1") }
	h.router.Route(h.directory, plain, nil, sent)
	if calls != 0 {
		t.Errorf("a fanout decoded the headers")
	}
	h.bindExchange(plain, first, "")
	h.bindExchange(plain, second, "")
	if got := len(h.router.Route(h.directory, plain, nil, sent)); got != 3 || calls != 1 {
		t.Errorf("%d queues, headers decoded %d times", got, calls)
	}
	if got := len(h.router.Route(h.directory, plain, nil, nil)); got != 1 {
		t.Errorf("without headers: %d queues", got)
	}
}
