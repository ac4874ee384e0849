package backlog

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpots_TTL16: whoever goes through the queue page by page sees every message that is there all the while, once and in
// order, whatever comes, goes and returns to its position meanwhile.
func TestSpots_TTL16(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var b Backlog
		seq := uint64(0)
		push := func(n int) {
			for range n {
				m := small()
				seq++
				m.Seq, m.Priority = seq, uint8(r.IntN(3)*r.IntN(2)*100)
				b.Push(m)
			}
		}
		push(r.IntN(400))
		var there, seen []uint64
		b.Walk(func(h Handle) bool { there = append(there, b.Entry(h).Seq); return true })
		gone := map[uint64]bool{}
		var taken []Handle
		for at, more := Spot(0), true; more; {
			more = false
			page := 1 + r.IntN(50)
			b.Behind(at, func(h Handle) bool {
				if b.Spot(h) <= at {
					t.Fatalf("seed %d: %d behind %d", seed, b.Spot(h), at)
				}
				at, more = b.Spot(h), true
				seen = append(seen, b.Entry(h).Seq)
				page--
				return page > 0
			})
			for range r.IntN(40) {
				if h, ok := b.First(); ok && r.IntN(2) == 0 {
					gone[b.Entry(h).Seq] = true
					if r.IntN(2) == 0 {
						b.Remove(h)
					} else {
						b.Take(h)
						taken = append(taken, h)
					}
				}
			}
			for _, h := range taken {
				if r.IntN(2) == 0 {
					b.Return(h)
				} else {
					b.Remove(h)
				}
			}
			taken = nil
			if len(seen) < 5000 {
				push(r.IntN(30))
			}
		}
		for _, s := range there {
			if n := len(slices.DeleteFunc(slices.Clone(seen), func(x uint64) bool { return x != s })); n > 1 || n == 0 && !gone[s] {
				t.Fatalf("seed %d: %d was seen %d times", seed, s, n)
			}
		}
	}
}

// TestSpotsAreNew: the places of a segment that ran empty are not those that were.
func TestSpotsAreNew(t *testing.T) {
	var b Backlog
	last := Spot(0)
	for range 1000 {
		h := b.Push(small())
		if b.Spot(h) <= last {
			t.Fatalf("%d after %d", b.Spot(h), last)
		}
		last = b.Spot(h)
		b.Remove(h)
	}
}
