package load

import (
	"errors"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/verify"
	"candlemark/cmd/candlemark-bench/bench/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTTL(t *testing.T) {
	const n = 30_000
	for text, want := range map[string]struct {
		least, most, mean time.Duration
		values            int
		fixed             bool
	}{
		"":                  {0, 0, 0, 1, false},
		"5s":                {5 * time.Second, 5 * time.Second, 5 * time.Second, 1, true},
		"fixed:20ms":        {20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 1, true},
		"uniform:1s-2s":     {time.Second, 2 * time.Second, 1500 * time.Millisecond, 1001, false},
		"mix:1ms,10ms,19ms": {time.Millisecond, 19 * time.Millisecond, 10 * time.Millisecond, 3, false},
	} {
		ttl, err := ParseTTL(text)
		if err != nil || ttl.Fixed() != want.fixed || ttl.IsZero() != (text == "") {
			t.Errorf("%q: %+v, %v", text, ttl, err)
			continue
		}
		seen, least, most, sum, falls := map[time.Duration]int{}, time.Hour, time.Duration(0), time.Duration(0), 0
		for i := range uint64(n) {
			d := ttl.Of(i)
			seen[d]++
			least, most, sum = min(least, d), max(most, d), sum+d
			if d < ttl.Of(i+1) {
				falls++
			}
		}
		mean := sum / n
		if least != want.least || most != want.most || len(seen) != want.values || mean < want.mean*98/100 || mean > want.mean*102/100 {
			t.Errorf("%q: %v to %v, mean %v, %d values", text, least, most, mean, len(seen))
		}
		if want.values > 1 && (falls < n/4 || falls > n*3/4) {
			t.Errorf("%q is in some order: %d of %d", text, falls, n)
		}
	}
	for _, text := range []string{"x", "uniform:1s", "uniform:2s-1s", "fixed:1s,2s", "mix:", "1.5ms", "-1s", "normal:1s-2s"} {
		if _, err := ParseTTL(text); !errors.Is(err, errTTL) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestHead(t *testing.T) {
	h, body := head{run: 1, producer: 2, seq: 3, sent: 4, due: 5, ttl: 6}, make([]byte, MinSize)
	h.put(body)
	var got head
	if !got.read(body, 1) || got != h {
		t.Errorf("%+v", got)
	}
	if got.read(body, 2) || got.read(body[1:], 1) {
		t.Error("taken for one of the run")
	}
}

// Confirms of one message, of several, repeated ones and unknown ones are handled; a blocked reserve returns when the window has room.
func TestWindowOfConfirms(t *testing.T) {
	run := NewRun(1, wire.Config{})
	w := newWindow(4, math.MaxUint64, run.Confirm.Shard(0))
	if n, _, err := w.reserve(10); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	more := make(chan int)
	go func() {
		n, _, _ := w.reserve(10)
		more <- n
	}()
	now := wire.Now()
	w.confirm(&wire.Event{Kind: wire.Ack, Tag: 2}, now)
	w.confirm(&wire.Event{Kind: wire.Nack, Tag: 2}, now) // repeated
	w.confirm(&wire.Event{Kind: wire.Ack, Tag: 99}, now)
	w.confirm(&wire.Event{Kind: wire.Nack, Tag: 3, Flag: true}, now) // 1 and 3
	if n := <-more; n != 3 {
		t.Error(n)
	}
	go w.confirm(&wire.Event{Kind: wire.Ack, Flag: true}, now) // all
	if err := w.drain(); err != nil || w.nacked != 2 || run.Confirm.Total().Count() != 7 {
		t.Error(err, w.nacked, run.Confirm.Total().Count())
	}
	if _, _, err := w.reserve(1); err != nil {
		t.Fatal(err)
	}
	w.fail(os.ErrClosed)
	if _, _, err := w.reserve(4); !errors.Is(err, os.ErrClosed) || !errors.Is(w.drain(), os.ErrClosed) {
		t.Error(err)
	}
}

// In AMQP 1.0 publishes also wait for link credit, and confirms cover ranges.
func TestWindowOfCredit(t *testing.T) {
	run := NewRun(1, wire.Config{})
	for _, size := range []int{0, 8} {
		w, more := newWindow(size, 0, run.Confirm.Shard(0)), make(chan int)
		for _, want := range []int{3, 2} {
			go func() {
				n, _, _ := w.reserve(10)
				more <- n
			}()
			w.confirm(&wire.Event{Kind: wire.Credit, Tag: uint64(3 + 2*(3-want))}, wire.Now())
			if n := <-more; n != want {
				t.Errorf("%d with a window of %d, want %d", n, size, want)
			}
		}
		go w.confirm(&wire.Event{Kind: wire.Nack, First: 4, Tag: 5}, wire.Now())
		go w.confirm(&wire.Event{Kind: wire.Ack, First: 1, Tag: 3}, wire.Now())
		if err := w.drain(); err != nil || size > 0 && w.nacked != 2 {
			t.Error(err, w.nacked)
		}
	}
}

// Latency is measured from the scheduled send time: if a producer stalls for a second, all messages that it sends then include that second.
func TestLatencyFromSchedule(t *testing.T) {
	run := NewRun(1, wire.Config{})
	s := NewStream(run, 0, &verify.Queue{}, true)
	for i := range uint64(10) {
		s.Take([]Received{{ID: verify.ID{Seq: i}, Due: 0, Sent: 1e9, At: 1e9 + 1e6}})
	}
	if all, wrote := run.Latency.Total().Quantile(.01), run.FromWrite.Total().Quantile(1); all < 1e9 || wrote > 2e6 {
		t.Error(all, wrote)
	}
}

// A message that arrives before its TTL has passed is early, and a second copy is a duplicate; before notBefore nothing is due.
func TestLate(t *testing.T) {
	book, all, second := &verify.Queue{AnyOrder: true}, stats.NewSigned(), stats.NewSigned()
	notBefore := int64(0)
	s := NewLate(book, func(producer uint32) []*stats.Signed { return []*stats.Signed{all, second}[:producer+1] }, func() int64 { return notBefore })
	at := func(seq uint64, producer uint32, at int64) Received {
		return Received{ID: verify.ID{Producer: producer, Seq: seq}, Sent: 1e9, TTL: time.Second, At: at}
	}
	s.Take([]Received{at(2, 0, 2e9+5e6), at(0, 0, 2e9-5e6), at(1, 0, 2e9-1), at(1, 0, 2e9)})
	if l := all.Lateness(); l.Early != 2 || l.EarlyOver1ms != 1 || l.Count != 4 {
		t.Errorf("%+v", l)
	}
	notBefore = 3e9
	s.Take([]Received{at(0, 1, 3e9+1), at(1, 1, 3e9-1)})
	if all.Early() != 3 || second.Early() != 1 {
		t.Error(all.Early(), second.Early())
	}
	if found, _ := book.Findings(); found != (verify.Findings{Doubled: 1}) || book.Missing(0, 3) != 0 {
		t.Errorf("%+v", found)
	}
}

// TestProducersTakeTurns: the sends of a hundred producers at one message a second are spread over the second.
func TestProducersTakeTurns(t *testing.T) {
	r := NewRun(1, wire.Config{})
	r.Stop.Store(true) // producers do not wait for their start
	var starts []float64
	for id := range uint32(100) {
		now := wire.Now()
		after := time.Duration(r.begin(Always(1), id, pacer{}) - now).Seconds()
		starts = append(starts, math.Mod(after, 1))
	}
	slices.Sort(starts)
	for i, s := range starts[1:] {
		if gap := s - starts[i]; gap > 0.03 {
			t.Errorf("nothing is sent for %.3f s", gap)
		}
	}
}
