package schedule

import (
	"slices"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/records"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

func header(id string) []byte {
	return (&protocol.Properties{Flags: protocol.FlagMessageID, MessageID: id}).Append(nil)
}

// fixture is a schedule of persistent messages with message-ids.
type fixture struct {
	*Schedule
	w   records.Writer
	seq uint64
}

func newFixture() *fixture {
	return &fixture{Schedule: New(nil), w: records.New(&mail.Posts{}, records.StorePersistent, false)}
}

func (f *fixture) enqueue(id string, due int64) {
	f.seq++
	r := backlog.Record{Header: header(id), Body: []byte("body"), Deadline: due, TTL: 7, Seq: f.seq, Stored: true}
	f.Enqueue(&r, content.Times{Due: timeheaders.Due{At: due}, ID: store.HashID(id)}, &f.w, false)
}

// order returns the numbers in the order of release.
func (f *fixture) order() (list []uint64) {
	f.Behind(0, 0, func(h backlog.Handle) bool {
		list = append(list, f.Messages.Backlog.Seq(h))
		return true
	})
	return list
}

// TestChange_DLY11: messages are changed by number or by message-id, in memory or not; of messages outside memory,
// removed ones, or ones that only have the same hash, are not changed.
func TestChange_DLY11(t *testing.T) {
	f := newFixture()
	for i, id := range []string{"a", "b", "c", "b"} {
		f.enqueue(id, int64(100*(i+1)))
	}
	if want, _ := f.Change(&Change{Due: 50}, &f.w, 3, ""); len(want) != 0 || !slices.Equal(f.order(), []uint64{3, 1, 2, 4}) {
		t.Error(f.order())
	}
	c := &Change{}
	if f.Change(c, &f.w, 0, "b"); c.Count != 2 || !c.Stored || !slices.Equal(f.order(), []uint64{3, 1}) {
		t.Errorf("%+v: %v", c, f.order())
	}
	f = newFixture()
	f.Restore([]*store.Recovered{{Seq: 5, Due: 100, MessageID: store.HashID("x"), At: 1}, {Seq: 6, Due: 200, MessageID: store.HashID("x"), At: 2}}, new(policies.QueueSettings))
	c = &Change{}
	want, found := f.Change(c, &f.w, 0, "x")
	if len(want) != 2 || want[0].Seq != 6 || c.Count != 0 {
		t.Fatalf("%+v", want)
	}
	found([]store.Content{{Seq: 6, Record: store.Record{Header: header("y")}}, {Seq: 5, Record: store.Record{Header: header("x")}}})
	if c.Count != 1 || !slices.Equal(f.order(), []uint64{6}) {
		t.Errorf("%+v: %v", c, f.order())
	}
}

// TestMove_DLY9: a released message keeps its number, and its TTL starts at its due time.
func TestMove_DLY9(t *testing.T) {
	f := newFixture()
	f.enqueue("a", 100)
	var b backlog.Backlog
	b.Push(&backlog.Record{Seq: 9})
	settings := policies.SettingsFor(nil, policies.Effective{})
	e := expiry.New(&b, &settings, false)
	first, due, ok := f.First()
	if !ok || due != 100 {
		t.Fatalf("due at %d", due)
	}
	h := f.Move(first, &b, &e, &f.w)
	if entry := b.Entry(h); entry.Seq != 1 || entry.Deadline != 107 || f.Len() != 0 {
		t.Errorf("%+v, %d left", entry, f.Len())
	}
	if b.Place(h) != 0 {
		t.Errorf("the journal has it at %d, before it was written", b.Place(h))
	}
	_, commit := f.w.HandOver()
	commit.Messages(func(now backlog.Handle, r *store.Record) {
		if now != h || r.Due != 100 {
			t.Errorf("%d is written for %d, due at %d", now, h, r.Due)
		}
	})
	f.enqueue("b", 100)
	second, _, _ := f.First()
	f.Messages.Backlog.SetPlace(second, 77)
	if h = f.Move(second, &b, &e, &f.w); b.Place(h) != 77 {
		t.Errorf("the journal has it at %d", b.Place(h))
	}
}

// TestWithHash: a change by message-id covers at most changeLimit messages.
func TestWithHash(t *testing.T) {
	f := newFixture()
	for range changeLimit + 1 {
		f.enqueue("a", 100)
	}
	c := &Change{}
	if f.Change(c, &f.w, 0, "a"); c.Count != changeLimit || f.Len() != 1 {
		t.Errorf("%d changed, %d left", c.Count, f.Len())
	}
}

// TestNone: the nil Schedule of a queue without scheduled messages is empty.
func TestNone(t *testing.T) {
	var x *Schedule
	want, _ := x.Change(&Change{}, nil, 0, "a")
	_, _, first := x.First()
	if _, next := x.NextRelease(-1); next || first || len(want) != 0 || x.Len() != 0 || x.Counted() != 0 {
		t.Error("there is something")
	}
}
