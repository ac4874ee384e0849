package records

import (
	"errors"
	"slices"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// publisher is the address of a publisher.
var publisher mail.Address = address.Named("publisher")

type fixture struct {
	Writer
	out mail.Posts
	backlog.Backlog
	seq uint64
}

func newFixture(rule Rule) *fixture {
	f := &fixture{}
	f.Writer = New(&f.out, rule, false)
	f.At = start
	return f
}

func (f *fixture) replies() (list []*mail.EnqueueReply) {
	for _, p := range f.out {
		list = append(list, p.Mail.(*mail.EnqueueReply))
	}
	return list
}

func (f *fixture) push() backlog.Handle {
	f.seq++
	return f.Push(&backlog.Record{Header: []byte{0, 0}, Body: []byte("body"), Deadline: store.Never, TTL: backlog.NoTTL, Seq: f.seq})
}

func (f *fixture) put() backlog.Handle {
	h := f.push()
	f.Put(&f.Backlog, h)
	return h
}

// kinds returns the kind of each record, with its first and last number.
func kinds(list []store.Record) (got [][3]uint64) {
	for i := range list {
		got = append(got, [3]uint64{uint64(list[i].Kind), list[i].First, list[i].Last})
	}
	return got
}

func (f *fixture) want(t *testing.T, want ...[3]uint64) *Commit {
	t.Helper()
	list, c := f.HandOver()
	if got := kinds(list); !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	return c
}

const (
	put      = uint64(store.Put)
	spill    = uint64(store.Spill)
	remove   = uint64(store.Remove)
	returned = uint64(store.Returned)
	retire   = uint64(store.Retire)
)

// TestRecordsJoin: events of adjacent messages are joined to one record, and need no commit.
func TestRecordsJoin(t *testing.T) {
	f := newFixture(StorePersistent)
	a, b, d := f.put(), f.put(), f.put()
	f.want(t, [3]uint64{put, 1, 1}, [3]uint64{put, 2, 2}, [3]uint64{put, 3, 3})
	f.Writer.Remove(f.Entry(a), store.Acked)
	f.Writer.Remove(f.Entry(b), store.Acked)
	f.Note(store.Returned, f.Entry(d))
	f.Note(store.Returned, f.Entry(f.push())) // not in the journal
	if c := f.want(t, [3]uint64{remove, 1, 2}, [3]uint64{returned, 3, 3}); c != nil {
		t.Error("a commit without messages")
	}
	f.want(t)
}

// TestLeftInTheSameTurn: a message that arrives and ends in one turn is not written.
func TestLeftInTheSameTurn(t *testing.T) {
	f := newFixture(StorePersistent)
	f.put()
	b := f.put()
	f.put()
	f.Writer.Remove(f.Entry(b), store.Acked)
	c := f.want(t, [3]uint64{put, 1, 1}, [3]uint64{put, 3, 3})
	reply := &mail.EnqueueReply{}
	f.Writer.Remove(f.Entry(f.put()), store.Acked)
	f.Confirm(&mail.Enqueue{From: publisher}, reply)
	if f.want(t) != nil || len(f.replies()) != 1 || reply.Refused {
		t.Error("the publisher of what is not written waits")
	}
	if f.Done(c, nil) || len(f.replies()) != 1 {
		t.Error("somebody waited for the other")
	}
}

// TestWaitersAreInformed when a commit is done or has failed, in any order.
func TestWaitersAreInformed(t *testing.T) {
	f := newFixture(StorePersistent)
	replies := []*mail.EnqueueReply{{}, {}}
	var commits []*Commit
	failed := 0
	for _, r := range replies {
		f.put()
		f.Confirm(&mail.Enqueue{From: publisher}, r)
		f.Await(func(lost bool) {
			if lost {
				failed++
			}
		})
		_, c := f.HandOver()
		commits = append(commits, c)
	}
	if !f.Done(commits[1], errors.New("full")) || f.Done(commits[0], nil) || f.Err() == nil {
		t.Error("the failure was not reported exactly once")
	}
	if !slices.Equal(f.replies(), []*mail.EnqueueReply{replies[1], replies[0]}) || !replies[1].Refused || replies[0].Refused || failed != 1 {
		t.Errorf("%v, %d failed", f.replies(), failed)
	}
}

// TestHandlesFollow: a commit has the new handle of a moved message, both of a put and of a spill.
func TestHandlesFollow(t *testing.T) {
	f := newFixture(StorePersistent)
	old := f.push()
	a := f.put()
	f.Spill(&f.Backlog, old, false)
	if f.Spilling() != 6 || !f.Spilled() {
		t.Error(f.Spilling())
	}
	f.Follow(2, a, 100)
	c := f.want(t, [3]uint64{put, 2, 2}, [3]uint64{spill, 1, 1})
	f.Follow(1, old, 200)
	var handles []backlog.Handle
	c.Messages(func(h backlog.Handle, _ *store.Record) { handles = append(handles, h) })
	if !slices.Equal(handles, []backlog.Handle{100, 200}) {
		t.Error(handles)
	}
	if f.Done(c, nil); f.Spilling() != 0 {
		t.Error(f.Spilling())
	}
}

// TestNothingIsWrittenOfWhatNobodyKnows: when a queue ends, waiting publishers are answered, nothing more is written, and it is
// retired if the journal has any of its messages.
func TestNothingIsWrittenOfWhatNobodyKnows(t *testing.T) {
	f := newFixture(StorePersistent)
	a := f.put()
	f.Confirm(&mail.Enqueue{From: publisher}, &mail.EnqueueReply{})
	f.HandOver()
	f.Close()
	if len(f.replies()) != 1 || f.replies()[0].Refused || f.Stores(&message.Message{Header: []byte{0x10, 0, 2}}) {
		t.Error("not closed")
	}
	f.Writer.Remove(f.Entry(a), store.Expired)
	f.Note(store.Returned, f.Entry(a))
	f.Spill(&f.Backlog, f.push(), false)
	f.want(t)
	f.Retire()
	f.want(t, [3]uint64{retire, 0, 0})
	f = newFixture(StoreNothing)
	f.Retire()
	f.RemoveAll(7, store.Purged)
	f.want(t)
}

// TestPanic: waiting publishers are told that their messages were lost, except for the publisher of the current mail.
func TestPanic(t *testing.T) {
	f := newFixture(StorePersistent)
	waiting, inHand := &mail.EnqueueReply{}, &mail.EnqueueReply{}
	f.put()
	f.Confirm(&mail.Enqueue{From: publisher}, waiting)
	f.HandOver()
	f.put()
	f.Confirm(&mail.Enqueue{From: publisher}, inHand)
	f.Fail()
	if !slices.Equal(f.replies(), []*mail.EnqueueReply{waiting}) || !waiting.Refused {
		t.Errorf("%v", f.replies())
	}
}

// TestPutAgainAfterAnError: records that can no longer be written to the journal stay in memory.
func TestPutAgainAfterAnError(t *testing.T) {
	f := newFixture(StorePersistent)
	h := f.put()
	_, c := f.HandOver()
	f.Done(c, nil)
	f.SetPlace(h, 5)
	f.put()
	_, c = f.HandOver()
	f.Done(c, errors.New("full"))
	if f.PutAgain(&f.Backlog, h); f.Place(h) != 0 {
		t.Error("the older content may replace it")
	}
	f.want(t)
}

// TestMarksOfSpills: marks set before a message is written are recorded after it.
func TestMarksOfSpills(t *testing.T) {
	f := newFixture(StorePersistent)
	a, b := f.push(), f.push()
	f.Entry(a).Marks |= backlog.Deferred
	f.Entry(b).Marks |= backlog.Released
	f.Spill(&f.Backlog, a, false)
	f.Spill(&f.Backlog, b, false)
	f.want(t, [3]uint64{spill, 1, 1}, [3]uint64{spill, 2, 2}, [3]uint64{uint64(store.Deferred), 1, 1})
	f.PutAgain(&f.Backlog, b)
	c := f.want(t, [3]uint64{spill, 2, 2}, [3]uint64{uint64(store.Released), 2, 2})
	if r := &c.Records[0]; !r.Again {
		t.Errorf("%+v", r)
	}
}
