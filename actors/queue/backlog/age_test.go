package backlog

import "testing"

// TestOldestHeld_AGE2: deferred and ended messages do not count, and only a limited number of them is passed over.
func TestOldestHeld_AGE2(t *testing.T) {
	var b Backlog
	var handles []Handle
	for i := range int64(3 * maxPassed) {
		h := b.Push(&Record{Enqueued: 1000 + i, Priority: 1})
		handles = append(handles, h)
	}
	want := func(what string, ready, held int64) {
		t.Helper()
		if r, h := OldestReady(&b), OldestHeld(&b); r != ready || h != held {
			t.Errorf("%s: ready since %d, held since %d, want %d, %d", what, r, h, ready, held)
		}
	}
	b.Take(handles[0])
	want("unacked", 1001, 1000)
	b.Entry(handles[0]).Marks = Deferred
	b.Take(handles[1])
	b.Entry(handles[1]).Marks = Ended | Written
	b.Take(handles[2])
	want("two passed over", 1003, 1002)
	for _, h := range handles[2 : maxPassed-1] {
		if b.IsReady(h) {
			b.Take(h)
		}
		b.Entry(h).Marks = Ended
	}
	b.Take(handles[maxPassed-1])
	want("at the limit", 1000+maxPassed, 1000+maxPassed-1)
	for _, h := range handles[maxPassed-1 : 2*maxPassed] {
		if b.IsReady(h) {
			b.Take(h)
		}
		b.Entry(h).Marks = Ended
	}
	b.Take(handles[2*maxPassed])
	want("too many", 1000+2*maxPassed+1, 1000+2*maxPassed+1)
	b.Push(&Record{Enqueued: 7})
	want("another priority", 7, 7)
}
