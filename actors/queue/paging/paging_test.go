package paging

import (
	"errors"
	"testing"
	"time"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/records"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// start is the broker's start time in these tests, in wall ms.
const start = 1_800_000_000_000

func at(ms int64) clock.Instant { return clock.Instant((start + ms) * int64(time.Millisecond)) }

// fixture is a queue of messages with 1000-byte bodies.
type fixture struct {
	Pager
	Memory
	messages backlog.Backlog
	journal  records.Writer
	seq      uint64
	damaged  []uint64
}

func newFixture(idle int64) *fixture {
	f := &fixture{Pager: New(), journal: records.New(&mail.Posts{}, records.StorePersistent, false)}
	f.Idle = idle
	f.Memory = Memory{Messages: &f.messages, Journal: &f.journal, OverLimit: true}
	return f
}

func (f *fixture) push(n int, stored bool) {
	for range n {
		f.seq++
		h := f.messages.Push(&backlog.Record{Header: []byte{0, 0}, Body: make([]byte, 1000), Deadline: store.Never, Seq: f.seq, Stored: stored})
		if stored {
			f.journal.Put(&f.messages, h)
		}
	}
}

// write stores all pending records in the journal.
func (f *fixture) write() {
	list, c := f.journal.HandOver()
	if c == nil {
		return
	}
	for i := range list {
		list[i].Position = store.Position(list[i].First)
	}
	f.journal.Done(c, nil)
	f.Written(f.Memory, c)
}

// read completes the ordered reads, and counts them.
func (f *fixture) read(err error) (n int, failed error) {
	refs, handles, bytes := f.Orders()
	if f.Reading() != bytes {
		panic("contents that are being read do not count")
	}
	contents := make([]store.Content, len(refs))
	for i := range refs {
		contents[i] = store.Content{Seq: refs[i].Seq, Err: err, Record: store.Record{Header: []byte{0, 0}, Body: make([]byte, 1000)}}
	}
	return len(refs), f.Loaded(&f.messages, handles, contents, bytes, at(0), false, func(h backlog.Handle) { f.damaged = append(f.damaged, f.messages.Seq(h)) })
}

// TestWindowStays: when memory is tight, stored contents except for about a window are paged out, persistent or not.
func TestWindowStays(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		f := newFixture(10_000)
		f.push(100, persistent)
		for f.OverLimit = false; f.Trim(f.Memory); {
			f.write()
		}
		f.OverLimit = true
		for range 10 {
			f.Asked = true
			f.Trim(f.Memory)
			f.write()
		}
		if n := f.messages.Contents(); n > 15_000 || f.messages.Paged() < 85 || f.Crowded(f.Memory) && n <= 10_000 {
			t.Errorf("%v: %d bytes in memory, %d paged out", persistent, n, f.messages.Paged())
		}
	}
}

// TestWindow: the window is smaller for queues without consumers, and when there are too many queues.
func TestWindow(t *testing.T) {
	p := New()
	for _, row := range []struct {
		m    Memory
		want int64
	}{{Memory{}, WindowIdle}, {Memory{Consumed: true}, WindowBusy}, {Memory{Critical: true}, WindowIdle / criticalShare}} {
		if got := p.window(row.m); got != row.want {
			t.Errorf("%+v: %d", row.m, got)
		}
	}
}

// TestReadAhead: half a window is read at a time, and no content twice; a failure causes a pause.
func TestReadAhead(t *testing.T) {
	f := newFixture(0)
	f.push(100, true)
	f.write()
	if f.messages.Paged() != 100 {
		t.Fatalf("%d paged out", f.messages.Paged())
	}
	f.Idle = 20_000
	f.Catch(f.Memory, at(0))
	f.ReadAhead(f.Memory, at(0))
	n, err := f.read(nil)
	if n < 8 || n > 12 || err != nil || f.messages.Paged() != 100-n {
		t.Errorf("%d read, %v", n, err)
	}
	f.Catch(f.Memory, at(0))
	if n, err = f.read(errors.New("slow")); n == 0 || err == nil || len(f.damaged) > 0 || !f.Paused(at(ReadPause-1)) {
		t.Errorf("%d read, %v, %v damaged", n, err, f.damaged)
	}
	next, ok := f.Next()
	if f.Catch(f.Memory, at(0)); !ok || next != start+ReadPause || len(f.refs) > 0 {
		t.Error("no pause")
	}
	f.Resume(at(ReadPause))
	if f.Catch(f.Memory, at(ReadPause)); len(f.refs) == 0 {
		t.Error("nothing is read behind the pause")
	}
	if n, err = f.read(store.ErrDamaged); err != nil || len(f.damaged) != n {
		t.Errorf("%v, %v damaged of %d", err, f.damaged, n)
	}
}

// TestReadsCount_PRO22: contents being read take memory before they are loaded.
func TestReadsCount_PRO22(t *testing.T) {
	f := newFixture(10_000)
	f.push(100, true)
	f.write()
	f.ReadAhead(f.Memory, at(0))
	f.Idle = 100_000
	f.Catch(f.Memory, at(0))
	refs, handles, bytes := f.Orders()
	if want := int64(len(refs)) * (1000 + Overhead); len(refs) < 5 || bytes != want || f.Reading() != want {
		t.Errorf("%d bytes of %d contents, %d", bytes, len(refs), f.Reading())
	}
	f.Loaded(&f.messages, handles[:0], nil, bytes, at(0), false, nil)
	if f.Reading() != 0 {
		t.Errorf("%d bytes are being read", f.Reading())
	}
}
