package topology

import (
	"fmt"
	"strings"
	"testing"
)

func TestTopicMatches(t *testing.T) {
	tests := []struct {
		binding string
		yes, no []string
	}{
		{"", []string{""}, []string{"a", ".", "a."}},
		{"a", []string{"a"}, []string{"", "b", "a.", ".a", "a.a", "aa", "A"}},
		{"a.b", []string{"a.b"}, []string{"a", "a.b.c", "ab", "a..b"}},
		{"*", []string{"a", "abc", "*", "#"}, []string{"", ".", "a.b", "a."}},
		{"#", []string{"", "a", ".", "a.b.c", "#", "...."}, nil},
		{"a.*", []string{"a.b", "a."}, []string{"a", "a.b.c", "b.a"}},
		{"*.a", []string{"b.a", ".a"}, []string{"a", "c.b.a"}},
		{"a.#", []string{"a", "a.", "a.b", "a.b.c"}, []string{"", "b", "b.a", "ab"}},
		{"#.a", []string{"a", ".a", "b.a", "c.b.a", "a.a"}, []string{"", "a.b", "ba"}},
		{"#.#", []string{"", "a", "a.b", "."}, nil},
		{"#.#.#", []string{"", "a", "a.b.c.d"}, nil},
		{"*.#", []string{"a", "a.b", "a.b.c", "."}, []string{""}},
		{"#.*", []string{"a", "a.b", "a.b.c", "."}, []string{""}},
		{"*.*", []string{"a.b", "."}, []string{"", "a", "a.b.c"}},
		{"#.*.#.*", []string{"a.b", "a.b.c"}, []string{"", "a"}},
		{"a.#.b", []string{"a.b", "a.c.b", "a..b", "a.b.b", "a.x.y.z.b"}, []string{"a", "b", "a.b.c", "ab"}},
		{"#.a.#", []string{"a", "a.b", "b.a", "b.a.c", "a.a"}, []string{"", "b", "b.c"}},
		{"#.a.*", []string{"a.b", "x.a.b", "a.a.b", "a.a"}, []string{"a", "a.b.c", "b"}},
		{"*.a.#.b.*", []string{"x.a.b.y", "x.a.c.b.y", "x.a.b.b"}, []string{"a.b", "x.a.y", "a.b.y", "x.a.c.y"}},
		{"a..b", []string{"a..b"}, []string{"a.b", "a.c.b"}},
		{".", []string{"."}, []string{"", "a", ".."}},
		{"a.", []string{"a."}, []string{"a", "a.b"}},
		{"a*", []string{"a*"}, []string{"ab", "a"}},
		{"#a.b", []string{"#a.b"}, []string{"a.b", "x.a.b"}},
	}
	for _, test := range tests {
		t.Run(test.binding, func(t *testing.T) {
			h := newFixture(t)
			x := h.exchange("x", "topic")
			h.bind(x, "q", test.binding, nil)
			for _, key := range test.yes {
				h.expect(x, key, "q")
			}
			for _, key := range test.no {
				h.expect(x, key)
			}
		})
	}
}

func TestTopicManyBindingsToOneQueueDeliverOnce(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "topic")
	for _, key := range []string{"a.b", "a.*", "*.b", "#", "a.#", "#.b", "#.#"} {
		h.bind(x, "q", key, nil)
		h.bind(x, "only "+key, key, nil)
	}
	h.expect(x, "a.b", "only #", "only #.#", "only #.b", "only *.b", "only a.#", "only a.*", "only a.b", "q")
	h.expect(x, "c", "only #", "only #.#", "q")
}

func TestTopicManyWords(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "topic")
	for i := range 1000 {
		h.bind(x, fmt.Sprint("q", i), fmt.Sprintf("device.%d.#", i), nil)
	}
	h.expect(x, "device.7.temperature", "q7")
	h.expect(x, "device.999", "q999")
	h.expect(x, "device.1000")
	for i := range 1000 {
		x.Publish(x.Routes().WithoutDestination(fmt.Sprint("q", i), false))
	}
	if root := x.Routes().matcher.(*topic).root; root != nil {
		t.Errorf("the trie keeps nodes without bindings: %+v", root)
	}
}

// Trying all ways to distribute the words over the '#' would take 10^20 steps and never end.
func TestTopicManyHashesStayCheap(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "topic")
	h.bind(x, "no", strings.Repeat("#.*.", 20)+"end", nil)
	h.bind(x, "yes", strings.Repeat("#.*.", 20)+"#", nil)
	h.expect(x, strings.Repeat(".", 254), "yes")
}
