package deliveries

import (
	"math/rand/v2"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
)

// TestAtRandom: a delivery times out at its time, not early and in the first call after it, unless it is stopped; renewals and
// postponements move that time.
func TestAtRandom(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		b := new(backlog.Backlog)
		l, channel, now := NewTimeouts(b), new(consumers.Holder), int64(1_800_000_000_000)
		open := map[uint64]backlog.Handle{}
		until := map[uint64]int64{}
		for number := uint64(1); number < 300; number++ {
			h := b.Push(&backlog.Record{Seq: number, Deadline: 1})
			b.Take(h)
			open[number], until[number] = h, now+1+r.Int64N(5000)
			l.Start(h, channel, number, until[number], now)
			for n, h := range open {
				switch r.IntN(20) {
				case 0:
					l.Stop(h)
					delete(open, n)
				case 1:
					until[n] += r.Int64N(1000)
					l.Renew(h, until[n])
				}
			}
			if r.IntN(20) == 0 {
				l.Postpone(77) // the machine was suspended for 77 ms
				now += 77
				for n := range open {
					until[n] += 77
				}
			}
			now += r.Int64N(200)
			for n, more := 0, true; more; n++ {
				more = l.Advance(now, 3, func(_ *consumers.Holder, number uint64) {
					if h, found := open[number]; !found || until[number] > now || l.Until(h) != until[number] {
						t.Fatalf("seed %d: %d is over at %d, want %d", seed, number, now, until[number])
					}
					l.Stop(open[number])
					delete(open, number)
				})
			}
			for n := range open {
				if until[n] <= now {
					t.Fatalf("seed %d: %d is not over", seed, n)
				}
			}
			if at, ok := l.Next(); ok != (len(open) > 0) || ok && at <= now || l.Len() != len(open) {
				t.Fatalf("seed %d: next %d, %v with %d", seed, at, ok, len(open))
			}
		}
	}
}
