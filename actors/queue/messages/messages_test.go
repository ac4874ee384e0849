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
