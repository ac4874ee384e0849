package definitions

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"candlemark/internal/access/auth"
)

func TestGlobals(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		g := NewGlobals(m, m.all(t).Globals)
		steps := []struct {
			name, value string // value "" means delete
			was         bool
		}{{"a", `{ "x": [1, 2.50] }`, false}, {"b", `null`, false}, {"a", `"<>"`, true}, {"b", "", true}, {"b", "", false}}
		for i, s := range steps {
			var was bool
			var err error
			if s.value == "" {
				was, err = g.Delete(s.name)
			} else if was, err = g.Put(s.name, []byte(s.value)); true {
				was = !was
			}
			if was != s.was || err != nil {
				t.Errorf("step %d: %t, %v", i, was, err)
			}
		}
		if _, err := g.Put("c", []byte("{")); err == nil {
			t.Error("no JSON, but stored")
		}
		m = m.reopen(t)
		again := NewGlobals(m, m.all(t).Globals)
		if got := slices.Collect(maps.Keys(again.All())); len(got) != 1 || string(again.All()["a"]) != `"<>"` {
			t.Errorf("got %q", got)
		}
		if x, ok := m.Store.(*Memory); ok {
			x.Fail(errDisk)
			if _, err := again.Put("a", []byte("1")); !errors.Is(err, auth.ErrNotStored) || string(again.All()["a"]) != `"<>"` {
				t.Errorf("%v, %s", err, again.All()["a"])
			}
		}
	})
	g := NewGlobals(nil, nil)
	if created, err := g.Put("a", []byte("1")); !created || err != nil || len(g.All()) != 1 {
		t.Errorf("%t, %v", created, err)
	}
}
