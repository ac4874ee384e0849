package names

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMap compares a Map with a Go map: old versions stay intact while names are added and removed.
func TestMap(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 0))
		var m Map[int]
		want := map[string]int{}
		type state struct {
			m    Map[int]
			want map[string]int
		}
		var kept []state
		range_, grow := 10+r.IntN(3000), true
		for i := range 6000 {
			if r.IntN(1500) == 0 {
				grow = !grow
			}
			name := fmt.Sprint("q", r.IntN(range_))
			if grow == (r.IntN(5) > 0) {
				m = m.With(name, i)
				want[name] = i
			} else {
				_, had := want[name]
				less, found := m.Without(name)
				if delete(want, name); found != had {
					t.Fatalf("seed %d: %s found: %v", seed, name, found)
				}
				m = less
			}
			if r.IntN(600) == 0 {
				kept = append(kept, state{m, maps.Clone(want)})
			}
		}
		for _, s := range append(kept, state{m, want}) {
			check(t, s.m, s.want)
		}
		for name := range want {
			m, _ = m.Without(name)
		}
		check(t, m, nil)
	}
}

func check(t *testing.T, m Map[int], want map[string]int) {
	t.Helper()
	if m.Len() != len(want) {
		t.Fatalf("%d names, want %d", m.Len(), len(want))
	}
	for name, v := range want {
		if got, found := m.Get([]byte(name)); !found || got != v {
			t.Fatalf("%s is %d, %v, want %d", name, got, found, v)
		}
	}
	for _, prefix := range []string{"", "q", "q1", "q12", "q2999", "p", "r", "q1x"} {
		var sorted []int
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if strings.HasPrefix(name, prefix) {
				sorted = append(sorted, want[name])
			}
			if _, found := m.Get([]byte(name + "?")); found {
				t.Fatalf("%s? is there", name)
			}
		}
		if got := slices.Collect(m.Under(prefix)); !slices.Equal(got, sorted) {
			t.Fatalf("under %q: %v, want %v", prefix, got, sorted)
		}
		for range m.Under(prefix) {
			break
		}
	}
}

func TestGetTakesNoMemory(t *testing.T) {
	var m Map[int]
	for i := range 1000 {
		m = m.With(fmt.Sprint(i), i)
	}
	name := []byte("777")
	if n := testing.AllocsPerRun(100, func() { m.Get(name) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
