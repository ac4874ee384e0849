package deferred

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"candlemark/actors/queue/backlog"
)

// TestNone_DEFER2: a nil set is an empty one.
func TestNone_DEFER2(t *testing.T) {
	var none *Deferred
	none.From(0, func(backlog.Handle) bool { t.Error("a message of no set"); return false })
	if _, ok := none.Next(); ok || none.Len() != 0 || none.Bytes() != 0 || none.Postponed() != 0 || none.Advance(1, 1, nil, nil, nil) {
		t.Error("no set is not empty")
	}
}

// TestSet_DEFER2: random additions and removals are compared with a map; numbers are in order, deadlines are exact,
// also deadlines that change when they are due, and removed messages leave no memory behind.
func TestSet_DEFER2(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var b backlog.Backlog
	s := New(&b)
	const start = 1_000_000
	there, until, now := map[uint64]backlog.Handle{}, map[uint64]int64{}, int64(start)
	var out []backlog.Handle
	for seq := uint64(1); seq < 4000; seq++ {
		h := b.Push(&backlog.Record{Seq: seq, Body: make([]byte, 3), Deadline: now + 1 + rng.Int64N(3000)})
		b.Take(h)
		out = append(out, h)
		if rng.IntN(2) == 0 { // in random order
			i := rng.IntN(len(out))
			h = out[i]
			out = slices.Delete(out, i, i+1)
			if b.Deadline(h) > now {
				s.Add(h, now)
				there[b.Seq(h)] = h
				if rng.IntN(2) == 0 {
					until[b.Seq(h)] = now + 1 + rng.Int64N(3000)
					s.Postpone(h, until[b.Seq(h)])
				}
			}
		}
		for n, h := range there {
			if rng.IntN(3) == 0 {
				s.Take(h)
				delete(there, n)
				delete(until, n)
			}
			break
		}
		now += rng.Int64N(3)
		gone := func(h backlog.Handle) {
			if there[b.Seq(h)] != h {
				t.Fatalf("%d is not there", b.Seq(h))
			}
			delete(there, b.Seq(h))
			delete(until, b.Seq(h))
		}
		s.Advance(now, 1<<20, s.moved(now, rng), func(h backlog.Handle) {
			if b.Deadline(h) > now {
				t.Fatalf("%d is due at %d, at %d", b.Seq(h), b.Deadline(h), now)
			}
			gone(h)
		}, func(h backlog.Handle) {
			if at, ok := until[b.Seq(h)]; !ok || at > now || b.Entry(h).Marks&backlog.Deferred != 0 {
				t.Fatalf("%d is ready again at %d, at %d", b.Seq(h), at, now)
			}
			gone(h)
		})
		if next, ok := s.Next(); ok && next <= now || s.Postponed() != len(until) {
			t.Fatalf("%d are postponed, not %d; the next is due at %d, at %d", s.Postponed(), len(until), next, now)
		}
		checkOrder(t, s, rng.Uint64N(seq), there)
		if s.Len() != len(there) || s.Bytes() != 3*int64(len(there)) || s.order.Len() != len(there) {
			t.Fatalf("%d, %d bytes, %d numbers, want %d", s.Len(), s.Bytes(), s.order.Len(), len(there))
		}
	}
}

// moved gives some due messages another deadline, due or not, and reports whether a message is still due.
func (s *Deferred) moved(now int64, rng *rand.Rand) func(h backlog.Handle) bool {
	return func(h backlog.Handle) bool {
		if rng.IntN(4) == 0 && s.Detach(h) {
			backlog.Retime(s.messages, h, now-1+rng.Int64N(4))
			s.Reattach(h)
		}
		return s.messages.Deadline(h) <= now
	}
}

// checkOrder checks the messages with numbers above after.
func checkOrder(t *testing.T, s *Deferred, after uint64, there map[uint64]backlog.Handle) {
	t.Helper()
	last, n := uint64(0), 0
	s.From(after, func(h backlog.Handle) bool {
		if q := s.messages.Seq(h); q <= max(last, after) || there[q] != h {
			t.Fatalf("%d behind %d", q, last)
		}
		last = s.messages.Seq(h)
		n++
		return n < 20
	})
}

// TestFirst_DEFER4: a purge takes the messages in their order.
func TestFirst_DEFER4(t *testing.T) {
	var b backlog.Backlog
	s := New(&b)
	for seq := uint64(1); seq <= 1000; seq++ {
		h := b.Push(&backlog.Record{Seq: seq, Deadline: 1 << 40})
		b.Take(h)
		s.Add(h, 0)
	}
	for seq := uint64(1); seq <= 1000; seq++ {
		h, ok := s.First()
		if !ok || b.Seq(h) != seq {
			t.Fatalf("%d, %v, want %d", h, ok, seq)
		}
		s.Take(h)
	}
	if _, ok := s.First(); ok || s.order.Len() > 0 {
		t.Errorf("%d left", s.order.Len())
	}
}

// BenchmarkAddBackwards adds messages in descending order: the cost of each must not grow with their number.
func BenchmarkAddBackwards(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				var all backlog.Backlog
				s := New(&all)
				for seq := uint64(n); seq > 0; seq-- {
					h := all.Push(&backlog.Record{Seq: seq, Deadline: 1 << 40})
					all.Take(h)
					s.Add(h, 0)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/message")
		})
	}
}

// TestAdvance_DEFER2: the buffer for messages that expire together is reused unless it is large.
func TestAdvance_DEFER2(t *testing.T) {
	for _, n := range []int{64, 65} {
		var b backlog.Backlog
		s := New(&b)
		for seq := range uint64(n) {
			h := b.Push(&backlog.Record{Seq: seq + 1, Deadline: 10})
			b.Take(h)
			s.Add(h, 0)
		}
		if s.Advance(10, 1000, func(backlog.Handle) bool { return true }, func(backlog.Handle) {}, nil); (cap(s.due) > 0) != (n == 64) {
			t.Errorf("room for %d after %d", cap(s.due), n)
		}
	}
}

// TestNext_DEFER2: deferring messages does not wake the queue before their earliest deadline.
func TestNext_DEFER2(t *testing.T) {
	const now = 1_000_000
	var b backlog.Backlog
	s := New(&b)
	for seq := uint64(1); seq <= 2; seq++ {
		h := b.Push(&backlog.Record{Seq: seq, Deadline: now + int64(seq)})
		b.Take(h)
		s.Add(h, now)
	}
	if next, ok := s.Next(); !ok || next != now+1 {
		t.Errorf("%d, %v", next, ok)
	}
}
