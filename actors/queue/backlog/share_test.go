package backlog

import (
	"fmt"
	"runtime"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
)

// TestShareCountsOnce: a large content counts once for all its holders, until the last of them releases it, in any way.
func TestShareCountsOnce(t *testing.T) {
	const size = 1 << 20
	var b budget.Budget
	r := Record{Body: make([]byte, size), TTL: NoTTL, Deadline: 1 << 62, Shared: true, Share: message.NewShare(size)}
	queues := make([]Backlog, 400)
	handles := make([]Handle, len(queues))
	before := heap()
	for i := range queues {
		queues[i].Budget = &b
		handles[i] = queues[i].Push(&r)
		if b.Used() != size || queues[i].Counted() != 0 || queues[i].Contents() != size {
			t.Fatalf("%d bytes with %d queues, %d counted", b.Used(), i+1, queues[i].Counted())
		}
	}
	if grown := heap() - before; grown > size {
		t.Errorf("%d bytes more", grown)
	}
	dead := got(&queues[0], handles[0])
	var letters Backlog
	letters.Budget = &b
	letters.Push(&dead)
	for i := range queues {
		if b.Used() != size {
			t.Fatalf("%d bytes with %d left", b.Used(), len(queues)-i)
		}
		switch q := &queues[i]; i % 3 {
		case 0:
			q.Remove(handles[i])
		case 1:
			q.SetPlace(handles[i], 1)
			q.PageOut(handles[i])
		default:
			q.Clear()
		}
	}
	letters.Clear()
	if b.Used() != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}

// TestOwnCountsOnce: a content received by one queue counts once while it is dead-lettered, too.
func TestOwnCountsOnce(t *testing.T) {
	var b budget.Budget
	from, to := Backlog{Budget: &b}, Backlog{Budget: &b}
	for _, size := range []int{maxRecord + 1, 1 << 20} {
		h := from.Push(&Record{Body: make([]byte, size), TTL: NoTTL})
		dead := got(&from, h)
		g := to.Push(&dead)
		if used := b.Used(); used != int64(size) || from.Counted()+to.Counted() != 0 {
			t.Errorf("%d bytes of %d", used, size)
		}
		from.Remove(h)
		to.Remove(g)
	}
	if b.Used() != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}

// TestClear: nothing is left, and a spot is not used again.
func TestClear(t *testing.T) {
	var limit budget.Budget
	b := Backlog{Budget: &limit}
	var last Spot
	for n := range 3 * leaveAtOnce {
		h := b.Push(&Record{Seq: uint64(n), Body: make([]byte, 1+n%2*10_000), TTL: NoTTL, Priority: uint8(n % 3)})
		last = max(last, b.Spot(h))
	}
	b.Clear()
	for limit.Used() != 0 {
		runtime.Gosched()
	}
	if b.Len() != 0 || b.Bytes() != 0 || b.Held() != 0 || b.Memory() != 0 {
		t.Errorf("%d messages, %d bytes", b.Len(), b.Memory())
	}
	if h := b.Push(&Record{TTL: NoTTL}); b.Spot(h) <= last || fmt.Sprint(b.Len()) != "1" {
		t.Error("a spot is given out again")
	}
}

// TestOldest: numbers are in order across all priorities.
func TestOldest(t *testing.T) {
	var b Backlog
	for n := range uint64(1000) {
		h := b.Push(&Record{Seq: n + 1, TTL: NoTTL, Priority: uint8(n * 7 % 11)})
		if n%5 == 0 {
			b.Take(h)
		}
	}
	last := uint64(0)
	for b.Ready() > 0 {
		h, _ := b.Oldest()
		if seq := b.Seq(h); seq <= last {
			t.Fatalf("%d behind %d", seq, last)
		} else {
			last = seq
		}
		b.Remove(h)
	}
	if _, ok := b.Oldest(); ok || b.Len() != 200 {
		t.Errorf("%d are left", b.Len())
	}
}

// heap returns the number of live bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestSharedIsHeldWhereItIs: a shared content is referenced, not copied, unless it is so small that a reference takes more
// memory.
func TestSharedIsHeldWhereItIs(t *testing.T) {
	for size, kept := range map[int]bool{maxCopied / 2: false, 2 * maxCopied: true} {
		r := Record{Body: make([]byte, size), TTL: NoTTL, Shared: true, Share: message.NewShare(size)}
		var b Backlog
		if h := b.Push(&r); (&got(&b, h).Body[0] == &r.Body[0]) != kept {
			t.Errorf("%d bytes: held where they are %v", size, !kept)
		}
		if h := Handle(len(b.table.segments) << segmentBits); b.IsReady(h) {
			t.Errorf("handle %d, which nobody has, is ready", h)
		}
	}
}

// TestOverlaysGo: the broker's additions to a message are removed with it.
func TestOverlaysGo(t *testing.T) {
	var b Backlog
	b.Push(small()) // keeps the backlog from being empty, which would drop everything
	r := small()
	r.Overlay = &message.Overlay{DropExpiration: true}
	h := b.Push(r)
	if len(b.rare.overlays) != 1 {
		t.Fatalf("%d overlays", len(b.rare.overlays))
	}
	if b.Remove(h); b.rare != nil && len(b.rare.overlays) != 0 {
		t.Errorf("%d overlays are left", len(b.rare.overlays))
	}
}
