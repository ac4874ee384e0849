package backlog

import (
	"math/rand/v2"
	"testing"
)

// reader reads a backlog page by page while it is changed.
type reader struct {
	*testing.T
	Backlog
	r    *rand.Rand
	seq  uint64
	seen map[uint64]int // count by Seq
	gone map[uint64]bool
}

func (x *reader) push(n int) {
	for range n {
		m := small()
		x.seq++
		m.Seq, m.Priority = x.seq, uint8(x.r.IntN(3)*x.r.IntN(2)*100)
		x.Push(m)
	}
}

// page reads one page and returns its end; false if the page is empty.
func (x *reader) page(at Spot) (end Spot, more bool) {
	left := 1 + x.r.IntN(50)
	end = at
	x.Behind(at, func(h Handle) bool {
		if x.Spot(h) <= end {
			x.Fatalf("%d behind %d", x.Spot(h), end)
		}
		end, more = x.Spot(h), true
		x.seen[x.Entry(h).Seq]++
		left--
		return left > 0
	})
	return end, more
}

// change takes messages at the head; some are removed, some return to their positions.
func (x *reader) change() {
	var taken []Handle
	for range x.r.IntN(40) {
		h, ok := x.First()
		if !ok || x.r.IntN(2) == 0 {
			continue
		}
		x.gone[x.Entry(h).Seq] = true
		x.Take(h)
		taken = append(taken, h)
	}
	for _, h := range taken {
		if x.r.IntN(2) == 0 {
			x.Return(h)
		} else {
			x.Remove(h)
		}
	}
	if len(x.seen) < 5000 {
		x.push(x.r.IntN(30))
	}
}

// TestSpots_TTL16: reading the queue page by page shows every message that stays in it once and in order, even if
// messages are pushed, removed or returned to their positions between pages.
func TestSpots_TTL16(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		x := reader{T: t, r: r, seen: map[uint64]int{}, gone: map[uint64]bool{}}
		x.push(r.IntN(400))
		var there []uint64
		x.Walk(func(h Handle) bool { there = append(there, x.Entry(h).Seq); return true })
		for at, more := x.page(0); more; at, more = x.page(at) {
			x.change()
		}
		for _, s := range there {
			if n := x.seen[s]; n > 1 || n == 0 && !x.gone[s] {
				t.Fatalf("%d was seen %d times", s, n)
			}
		}
	}
}

// TestSpotsAreNew: a segment that became empty gives no spot out again.
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

// BenchmarkBehind reads a page at the end of a long queue.
func BenchmarkBehind(b *testing.B) {
	const n = 1_000_000
	var q Backlog
	last := Spot(0)
	for i := range n {
		m := small()
		m.Seq = uint64(i)
		if h := q.Push(m); i < n-100 {
			last = q.Spot(h)
		}
	}
	for b.Loop() {
		q.Behind(last, func(Handle) bool { return true })
	}
}
