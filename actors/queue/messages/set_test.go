package messages

import (
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// start is the broker's start time in these tests, in wall ms.
const start = 1_800_000_000_000

func at(ms int64) clock.Instant { return clock.Instant((start + ms) * int64(time.Millisecond)) }

// fixture is a durable queue of persistent messages.
type fixture struct {
	Messages
	out mail.Posts
}

func newFixture(change ...func(*policies.QueueSettings)) *fixture {
	f := &fixture{}
	settings := policies.SettingsFor(nil, policies.Effective{})
	for _, c := range change {
		c(&settings)
	}
	v := topology.NewVHost("/")
	v.DeadLetter = address.Named("dead letters")
	f.Init(&topology.Queue{Name: "q", Incarnation: 7, Durable: true}, v, nil, settings, nil, &f.out)
	return f
}

func dlx(s *policies.QueueSettings) { s.HasDLX, s.DeadLetterExchange = true, "dlx" }

// persistent are properties with the delivery mode 2.
var persistent = []byte{0x10, 0, 2}

// put keeps n messages with a TTL.
func (f *fixture) put(n int, ttl int64) {
	for range n {
		m := &message.Message{Header: persistent, Body: []byte("body"), TTL: ttl, Owned: true}
		f.Wait(f.Keep(m, f.Expiry.Deadline(ttl, at(0)), at(0)))
	}
}

// records takes the numbers of records of the turn, by kind.
func (f *fixture) records() map[store.Kind]int {
	n := map[store.Kind]int{}
	list, _ := f.Journal.HandOver()
	for i := range list {
		n[list[i].Kind] += int(list[i].Last - list[i].First + 1)
	}
	return n
}

// TestEveryEndIsWritten: expiry, overflow and purge remove messages from the journal; with a dead-letter exchange, expired and
// overflowing ones stay until they are answered.
func TestEveryEndIsWritten(t *testing.T) {
	for _, dead := range []bool{false, true} {
		f := newFixture()
		if dead {
			dlx(&f.Settings)
		}
		f.put(2, 10)
		f.put(5, -1)
		if n := f.records(); n[store.Put] != 7 {
			t.Fatal(n)
		}
		f.ExpireDue(at(10))
		f.Settings.MaxLength = 4
		f.Enforce(at(10))
		removed := 3
		if dead {
			removed = 0
		}
		if n := f.records(); n[store.Remove] != removed || f.Backlog.Ready() != 4 || f.DeadLetters.Counts().Len != 3-removed {
			t.Errorf("%v, %d ready, %+v", n, f.Backlog.Ready(), f.DeadLetters.Counts())
		}
		if n := f.PurgeReady(3) + f.PurgeReady(3); n != 4 || f.records()[store.Remove] != 4 {
			t.Errorf("%d purged", n)
		}
	}
}

// TestRequeue_TTL16: a requeued message returns to its position with its deadline, or ends if that or the delivery limit has
// passed.
func TestRequeue_TTL16(t *testing.T) {
	f := newFixture(func(s *policies.QueueSettings) { s.DeliveryLimit = 1 })
	f.put(2, 10)
	h, _ := f.First(at(0))
	for _, row := range []struct {
		now   int64
		ready int
	}{{0, 2}, {0, 1}} { // over the delivery limit the second time
		f.Expiry.Remove(h)
		f.Backlog.Take(h)
		if f.Requeue(h, 0, at(row.now)); f.Backlog.Ready() != row.ready {
			t.Errorf("%d ready, want %d", f.Backlog.Ready(), row.ready)
		}
	}
	h, _ = f.First(at(0))
	f.Expiry.Remove(h)
	f.Backlog.Take(h)
	if f.Requeue(h, 0, at(10)); f.Backlog.Len() != 0 {
		t.Error("ready past its deadline")
	}
}

// TestLastDeadLetters_LEASE13: an ending queue dead-letters its backlog, including scheduled messages, under any
// settings for expired ones.
func TestLastDeadLetters_LEASE13(t *testing.T) {
	f := newFixture(dlx, func(s *policies.QueueSettings) { s.DelayedMessages, s.DropExpired = true, true })
	f.put(TurnLimit, -1)
	m := &message.Message{Header: persistent, Body: []byte("later"), TTL: -1}
	r := f.Reader()
	times := r.Times(m, &protocol.Scan{}, at(0))
	times.Due.At = start + 1000
	f.KeepScheduled(m, times, at(0))
	f.records()
	f.SetEnd(false, true)
	if !f.DeadLetterBacklog() || f.DeadLetterBacklog() || f.DeadLetters.Counts().Len != TurnLimit+1 {
		t.Errorf("%+v", f.DeadLetters.Counts())
	}
	f.Settings.HasDLX = false
	if f.DeadLetters.Flush(at(0), clock.Dates{}, 1); len(f.out) > 0 || f.DeadLetters.Counts().Len != TurnLimit+1 {
		t.Error("they do not wait for the exchange")
	}
	f.Settings.HasDLX = true
	f.SetEnd(true, true)
	if f.DeadLetters.Flush(at(0), clock.Dates{}, 1); f.out[0].Mail.(*mail.DeadLetter).Guarantee != mail.Drop {
		t.Error("somebody would have to wait")
	}
	f.records()
	f.Retire()
	if n := f.records(); len(n) != 1 || n[store.Retire] != 1 {
		t.Error(n)
	}
}

// TestRestored_DLY14: released messages are positioned by their due times, and others stay scheduled.
func TestRestored_DLY14(t *testing.T) {
	f := newFixture()
	f.Restore([]store.Recovered{
		{Seq: 1, Time: start - 50, Due: start - 20, Released: true, Deadline: store.Never, TTL: -1, At: 1},
		{Seq: 2, Time: start - 30, Deadline: store.Never, TTL: -1, At: 2},
		{Seq: 3, Time: start - 10, Deadline: store.Never, TTL: -1, At: 3},
		{Seq: 4, Time: start - 10, Due: start + 20, Deadline: store.Never, TTL: -1, At: 4},
	})
	var order []uint64
	f.Backlog.Walk(func(h uint32) bool {
		order = append(order, f.Backlog.Seq(h))
		return true
	})
	if len(order) != 3 || order[0] != 2 || order[1] != 1 || order[2] != 3 || f.Scheduled.Len() != 1 || f.Seq != 4 {
		t.Error(order, f.Scheduled.Len(), f.Seq)
	}
}
