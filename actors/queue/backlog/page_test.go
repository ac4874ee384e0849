package backlog

import (
	"math"
	"runtime"
	"testing"
)

// paged returns a message whose content is in the journal.
func paged(seq uint64) *Record {
	return &Record{Deadline: math.MaxInt64, TTL: NoTTL, Enqueued: 1_800_000_000_000, Seq: seq, Stored: true}
}

// inUse returns the heap growth caused by f.
func inUse(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// TestBytesPerPagedMessage: a message takes 64 B in total, whether it was recovered or paged out.
func TestBytesPerPagedMessage(t *testing.T) {
	const n = 1_000_000
	for name, fill := range map[string]func(b *Backlog){
		"recovered": func(b *Backlog) {
			for i := range uint64(n) {
				b.PushPaged(paged(i), 1024, i+1)
			}
		},
		"paged out": func(b *Backlog) {
			r := small()
			for i := range uint64(n) {
				r.Seq = i
				h := b.Push(r)
				b.SetPlace(h, i+1)
				if i >= 1000 {
					b.PageOut(h - 1000)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b Backlog
			used := inUse(func() { fill(&b) })
			t.Logf("%.1f B each", float64(used)/n)
			if used > 64*n+100_000 {
				t.Errorf("%d messages take %d bytes", n, used)
			}
			if h, _ := b.First(); b.Entry(h).Seq != 0 || b.Ready() != n {
				t.Error("wrong order")
			}
			runtime.KeepAlive(&b)
		})
	}
}

// TestTableOfKeptShrinks: the table shrinks when one large message stays in memory and the others are paged out.
func TestTableOfKeptShrinks(t *testing.T) {
	var b Backlog
	r := small()
	r.Body, r.Shared = make([]byte, 1000), true
	var handles []Handle
	for i := range uint64(5000) {
		r.Seq = i
		h := b.Push(r)
		b.SetPlace(h, i+1)
		handles = append(handles, h)
	}
	for i, h := range handles {
		if i != 4000 {
			b.PageOut(h)
		}
	}
	if got := got(&b, handles[4000]); got.Seq != 4000 || len(got.Body) != 1000 {
		t.Errorf("got %+v", got)
	}
	if n := cap(b.kept.items); n > keepTable {
		t.Errorf("the table has room for %d", n)
	}
}

// TestRestartedSegmentHasNoPlaces: a reused position does not have the journal place of the previous message.
func TestRestartedSegmentHasNoPlaces(t *testing.T) {
	var b Backlog
	for i := range uint64(1000) {
		h := b.Push(small())
		if at := b.Place(h); at != 0 {
			t.Fatalf("message %d is at %d", i, at)
		}
		b.SetPlace(h, i+1)
		if i%100 == 99 {
			for h, ok := b.First(); ok; h, ok = b.First() {
				b.Remove(h)
			}
		}
	}
}

// TestPageOutOfSurvivors: paging out may squeeze the sparse block of a message, but does not copy that message.
func TestPageOutOfSurvivors(t *testing.T) {
	var b Backlog
	var left []Handle
	for i := range uint64(20_000) {
		r := small()
		r.Seq = i
		h := b.Push(r)
		if b.SetPlace(h, i+1); i%50 == 0 {
			left = append(left, h)
		}
	}
	for h := range b.Walk {
		if b.Entry(h).Seq%50 != 0 {
			b.Remove(h)
		}
	}
	for _, h := range left {
		b.PageOut(h)
	}
	if b.Contents() != 0 || b.Paged() != len(left) {
		t.Errorf("%d bytes in memory, %d paged out", b.Contents(), b.Paged())
	}
}

// TestStoredCounts: stored messages are counted whether their content is in memory or not, even if they become stored
// later.
func TestStoredCounts(t *testing.T) {
	var b Backlog
	want := func(messages int, bytes int64) {
		t.Helper()
		if n, size := b.Stored(); n != messages || size != bytes {
			t.Errorf("%d messages with %d bytes, want %d with %d", n, size, messages, bytes)
		}
	}
	first := b.Push(&Record{Body: []byte("12345"), Stored: true})
	second := b.Push(&Record{Body: []byte("123")})
	third := b.PushPaged(&Record{Stored: true}, 7, 1)
	want(2, 12)
	b.SetStored(third, false)
	b.SetStored(second, true)
	b.SetStored(second, true)
	want(2, 8)
	b.SetPlace(first, 2)
	b.PageOut(first)
	want(2, 8)
	for _, h := range []Handle{first, second, third} {
		b.Remove(h)
	}
	want(0, 0)
}
