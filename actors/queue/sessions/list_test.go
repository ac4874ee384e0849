package sessions

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/queue/consumers"
)

// TestPage_SESSION8: a list made in steps contains each session that exists all the time once, in order; a step adds at most the
// given number.
func TestPage_SESSION8(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := New(nil, func(*consumers.Consumer, bool) {})
		const n = 60
		for i := range uint64(n) {
			s.Add(i+1, fmt.Sprint(i))
		}
		most := 1 + r.IntN(7)
		p, gone, steps := s.List(0, 0, n), map[string]int{}, 0
		for next := uint64(n); ; {
			steps++
			before := len(p.IDs)
			done := p.Step(most)
			if len(p.IDs) > before+most {
				t.Fatalf("%d in a step of %d", len(p.IDs)-before, most)
			}
			if done {
				break
			}
			for range r.IntN(4) {
				seq := 1 + r.Uint64N(next)
				if id, ok := s.Of(seq); ok {
					s.Gone(seq)
					gone[id] = steps
				}
			}
			if r.IntN(5) == 0 && next < n+10 {
				next++
				s.Add(next, fmt.Sprint(next-1))
			}
		}
		if s.page != nil {
			t.Fatal("the list is kept")
		}
		if !slices.IsSortedFunc(p.IDs, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) || len(slices.Compact(slices.Clone(p.IDs))) != len(p.IDs) {
			t.Fatalf("%q", p.IDs)
		}
		for i := range n {
			if id := fmt.Sprint(i); gone[id] == 0 && !slices.Contains(p.IDs, id) {
				t.Fatalf("%s is missing in %q", id, p.IDs)
			}
		}
	}
}
