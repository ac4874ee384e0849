package expiry

import (
	"slices"
	"testing"
	"time"

	"candlemark/actors/queue/backlog"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// start is the broker's start time in these tests, in wall ms.
const start = 1_800_000_000_000

func at(ms int64) clock.Instant { return clock.Instant((start + ms) * int64(time.Millisecond)) }

// fixture is a queue whose messages are named by their numbers.
type fixture struct {
	Expiry
	messages backlog.Backlog
	settings policies.QueueSettings
	seq      uint64
	ended    []uint64
}

func newFixture(change func(*policies.QueueSettings)) *fixture {
	f := &fixture{settings: policies.SettingsFor(nil, policies.Effective{})}
	change(&f.settings)
	f.Expiry = New(&f.messages, &f.settings, false)
	return f
}

func (f *fixture) push(ttl int64) backlog.Handle {
	f.seq++
	h := f.messages.Push(&backlog.Record{Deadline: f.Deadline(ttl, at(0)), TTL: ttl, Enqueued: start, Seq: f.seq, Body: []byte("b")})
	f.Add(h)
	return h
}

func (f *fixture) end(h backlog.Handle) {
	f.ended = append(f.ended, f.messages.Seq(h))
	f.messages.Remove(h)
}

func (f *fixture) want(t *testing.T, want ...uint64) {
	t.Helper()
	if !slices.Equal(f.ended, want) {
		t.Errorf("%v expired, want %v", f.ended, want)
	}
	f.ended = nil
}

// TestAnyPosition_TTL30: messages expire by deadline, at any position, and in queue order for equal deadlines; at most
// a limit per call (TTL-33).
func TestAnyPosition_TTL30(t *testing.T) {
	f := newFixture(func(*policies.QueueSettings) {})
	f.push(-1)
	again := f.push(50)
	f.push(50)
	f.push(20)
	f.Remove(again) // removed and added again
	f.Add(again)
	if next, ok := f.Next(); !ok || next > start+20 {
		t.Errorf("next at %d", next-start)
	}
	f.Advance(at(19), 100, f.end)
	f.want(t)
	f.Advance(at(50), 100, f.end)
	f.want(t, 4, 2, 3)
	for range 3 {
		f.push(60)
	}
	if !f.Advance(at(60), 2, f.end) || len(f.ended) != 2 || f.Advance(at(60), 2, f.end) {
		t.Error("the limit does not hold")
	}
	f.want(t, 5, 6, 7)
	if _, ok := f.Next(); ok || f.Len() != 0 {
		t.Error("something is left")
	}
}

// TestHeadOnly_TTL18: in strict mode a message expires only at the head.
func TestHeadOnly_TTL18(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.StrictExpiry = true })
	f.push(50)
	f.push(20)
	f.push(-1)
	if next, ok := f.Next(); !ok || next != start+50 {
		t.Errorf("next at %d", next-start)
	}
	f.Advance(at(49), 100, f.end)
	f.want(t)
	if !f.Advance(at(50), 1, f.end) || f.Advance(at(50), 2, f.end) {
		t.Error("the limit does not hold")
	}
	f.want(t, 1, 2)
}

// TestFirst: messages past their deadlines are not found, and expire; more of them than the limit hide the rest.
func TestFirst(t *testing.T) {
	f := newFixture(func(*policies.QueueSettings) {})
	f.push(10)
	f.push(10)
	f.push(30)
	if _, ok, more := f.First(at(10), 2, f.end); ok || !more {
		t.Error("not hidden")
	}
	f.want(t, 1, 2)
	if h, ok, more := f.First(at(29), 1, f.end); !ok || more || f.messages.Seq(h) != 3 {
		t.Error("not found")
	}
	if _, ok, more := f.First(at(30), 1, f.end); ok || !more {
		t.Error("late")
	}
	if _, ok, more := f.First(at(30), 1, f.end); ok || more {
		t.Error("found in an empty queue")
	}
}

// TestTTL: the lower TTL applies, and on quorum queues at least 1 ms (TTL-23).
func TestTTL(t *testing.T) {
	for _, row := range []struct {
		queue, own int64
		quorum     bool
		want       int64
	}{{-1, -1, false, -1}, {5, -1, false, 5}, {-1, 7, false, 7}, {5, 7, false, 5}, {7, 5, false, 5}, {-1, 0, false, 0}, {-1, 0, true, 1}, {0, 5, true, 1}} {
		f := newFixture(func(s *policies.QueueSettings) { s.MessageTTL = row.queue })
		f.quorum = row.quorum
		if got := f.TTL(row.own); got != row.want {
			t.Errorf("%+v: %d", row, got)
		}
	}
	f := newFixture(func(*policies.QueueSettings) {})
	if now := at(0) + 1; f.Deadline(0, now) != start || f.Deadline(1, now) != start+2 || f.Deadline(-1, now) != store.Never {
		t.Error("not rounded up, or not at once")
	}
}

// TestRecompute_TTL25: deadlines follow retroactive settings, and messages are added to the wheel when strict mode ends.
func TestRecompute_TTL25(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.StrictExpiry = true })
	f.push(100)
	taken := f.push(-1)
	f.messages.Take(taken)
	before := f.settings
	f.Follow(&before)
	if f.Recompute(100) || f.Len() != 1 {
		t.Error("a sweep though nothing has changed")
	}
	f.settings.StrictExpiry, f.settings.RetroactiveTTL, f.settings.MessageTTL = false, true, 30
	f.Follow(&before)
	for f.Recompute(1) {
	}
	if f.Len() != 1 || f.messages.Deadline(taken) != start+30 {
		t.Errorf("%d on the wheel", f.Len())
	}
	f.Advance(at(30), 100, f.end)
	f.want(t, 1)
	f.Clear()
	if f.Recompute(100) || f.Len() != 0 {
		t.Error("not cleared")
	}
}

// TestCounts: counts are exact for any horizon, in strict mode too; taken and expired messages are not counted.
func TestCounts(t *testing.T) {
	for _, strict := range []bool{false, true} {
		f := newFixture(func(s *policies.QueueSettings) { s.StrictExpiry = strict })
		if c := f.Counts(start); c != (Counts{}) {
			t.Errorf("%+v in an empty queue", c)
		}
		taken := f.push(7)
		for _, ttl := range []int64{-1, 999, 1000, 1001, 60_000, 60_001, 3_600_000, 3_600_001, 86_400_000, 86_400_001, 1 << 45} {
			f.push(ttl)
		}
		f.Remove(taken)
		if c, want := f.Counts(start), (Counts{Count: 10, Within: [5]int{2, 2, 2, 2, 2}, Next: start + 999}); c != want {
			t.Errorf("%+v, want %+v", c, want)
		}
		f.Advance(at(900), 100, f.end) // expires nothing
		if c, want := f.Counts(start+59_001), (Counts{Count: 10, Within: [5]int{5, 0, 2, 2, 1}, Next: start + 999}); c != want {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
}

// TestScan visits messages by deadline, one list per step, a list of one ms in parts, and restarts when messages were
// removed.
func TestScan(t *testing.T) {
	f := newFixture(func(*policies.QueueSettings) {})
	for i := range 300 {
		f.push(int64(1 + i*i*37%100_000))
	}
	f.push(-1)
	const many = 5000 // more than any list wider than 1 ms has
	same := make([]backlog.Handle, 0, many)
	for range many {
		same = append(same, f.push(200_000))
	}
	seen, last := 0, int64(0)
	for s := f.Scan(start + 1000); ; {
		highest := last
		whole, anew, more := s.Step(10, func(h backlog.Handle) {
			seen++
			highest = max(highest, f.messages.Deadline(h))
			if d := f.messages.Deadline(h); d < last {
				t.Errorf("%d behind %d", d, last)
			}
		})
		if anew {
			t.Error("anew")
		}
		if whole {
			last = highest
		}
		if !more {
			break
		}
	}
	if late := int(f.Counts(start).Within[0]); seen < 300+many-late || seen > 300+many {
		t.Errorf("%d seen", seen)
	}
	s := f.Scan(start + 200_000)
	for range 2 {
		if whole, anew, more := s.Step(1000, func(backlog.Handle) {}); whole || anew || !more {
			t.Fatal("not cut")
		}
	}
	f.Remove(same[many-1])
	if _, anew, more := s.Step(10, func(backlog.Handle) {}); !anew || !more {
		t.Error("goes on though messages have left")
	}
	seen = 0
	for more := true; more; {
		_, _, more = s.Step(10, func(backlog.Handle) { seen++ })
	}
	if seen != many-1 {
		t.Errorf("%d of %d", seen, many-1)
	}
}
