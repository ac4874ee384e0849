package ruleaction

import (
	"strings"
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// A text or the name of a property may have filter.MaxField bytes; with one more byte no copy is made.
func TestTextBounds_SBR6(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"p", strings.Repeat("x", filter.MaxField), true},
		{"p", strings.Repeat("x", filter.MaxField+1), false},
		{"p", "\xff", false},
	} {
		x := copied{properties: &protocol.Properties{}}
		if got := x.take(filter.Change{System: true, Field: filter.Label, Value: filter.TextOf(c.text)}); got != c.want {
			t.Errorf("a text of %d bytes: %v", len(c.text), got)
		}
	}
	for n, want := range map[int]bool{filter.MaxField: true, filter.MaxField + 1: false} {
		x := copied{properties: &protocol.Properties{}}
		if got := x.take(filter.Change{Name: strings.Repeat("x", n), Value: filter.TextOf("v")}); got != want {
			t.Errorf("a name of %d bytes: %v", n, got)
		}
	}
}

// A copy without application properties has no header table, and a property list has at most message.MaxHeader bytes.
func TestHeaderBounds_SBR6(t *testing.T) {
	header := func(n int) ([]byte, bool) {
		p := protocol.Properties{Flags: protocol.FlagHeaders}
		if n > 0 {
			p.Headers = protocol.Table{{Key: "k", Value: strings.Repeat("x", n)}}
		}
		x := copied{properties: &p}
		return x.header(nil)
	}
	if list, ok := header(0); !ok || len(list) != 2 {
		t.Errorf("%q, %v", list, ok)
	}
	one, _ := header(1)
	room := message.MaxHeader - len(one) + 1
	if list, ok := header(room); !ok || len(list) != message.MaxHeader {
		t.Errorf("%d bytes, %v", len(list), ok)
	}
	if _, ok := header(room + 1); ok {
		t.Errorf("more than %d bytes", message.MaxHeader)
	}
}
