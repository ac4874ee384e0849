package backlog

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRetimed_TTL25: every message keeps the deadline of its entry through changes of its deadline, whether it is ready, taken or
// paged out; a later message in its place has its own; and the memory for it is counted, and goes with the messages.
func TestRetimed_TTL25(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 2))
	var b Backlog
	type times struct{ entered, now int64 }
	there, seq := map[Handle]times{}, uint64(0)
	for range 30_000 {
		if len(there) < 700 && rng.IntN(3) > 0 || len(there) == 0 {
			seq++
			at := []int64{math.MaxInt64, 1 + rng.Int64N(100)}[rng.IntN(2)]
			r := &Record{Seq: seq, Deadline: at, Priority: uint8(rng.IntN(2)), Body: []byte("b")}
			h := Handle(0)
			if rng.IntN(2) == 0 {
				h = b.Push(r)
			} else {
				h = b.PushPaged(r, 1, 7)
			}
			there[h] = times{at, at}
		}
		for h, m := range there {
			switch rng.IntN(6) {
			case 0, 1:
				m.now = []int64{math.MaxInt64, 1 + rng.Int64N(100)}[rng.IntN(2)]
				Retime(&b, h, m.now)
				there[h] = m
			case 2:
				m.now = m.entered
				Retime(&b, h, m.now)
				there[h] = m
			case 3:
				b.turn(h)
			default:
				if Entered(&b, h) != m.entered || b.Deadline(h) != m.now {
					t.Fatalf("%d is due at %d, from its entry %d, want %+v", b.Seq(h), b.Deadline(h), Entered(&b, h), m)
				}
				b.Remove(h)
				delete(there, h)
			}
			break
		}
		if rng.IntN(500) == 0 {
			for h := range there {
				b.Remove(h)
			}
			clear(there)
		}
		if b.rare != nil {
			n := int64(len(b.rare.retimed)) * entrySize
			if b.Counted() != b.slab.held+b.kept.counted+n || b.Contents() != b.slab.live+b.kept.bytes+b.kept.shared {
				t.Fatalf("%d bytes are counted, %d of them contents, for %d", b.Counted(), b.Contents(), n)
			}
		}
	}
	for h := range there {
		b.Remove(h)
	}
	if b.rare != nil || b.Counted() != b.slab.held {
		t.Errorf("%d bytes are left", b.Counted())
	}
}

// turn takes a message that is ready, and returns another one.
func (b *Backlog) turn(h Handle) {
	if b.IsReady(h) {
		b.Take(h)
	} else {
		b.Return(h)
	}
}

// TestUnretimed_TTL25: a queue whose deadlines are the ones of the entries again has no memory for others.
func TestUnretimed_TTL25(t *testing.T) {
	var b Backlog
	for seq := range uint64(1000) {
		b.Push(&Record{Seq: seq + 1, Deadline: 50, Body: []byte("b")})
	}
	before := b.Memory()
	retime := func(to int64) {
		b.Sweep(1, 1<<20, func(h Handle) { Retime(&b, h, to) })
	}
	if retime(40); b.Memory() < before+1000*8 || b.Memory() > before+1000*10 {
		t.Errorf("%d bytes more", b.Memory()-before)
	}
	if retime(50); b.Memory() != before || len(b.rare.retimed) != 0 {
		t.Errorf("%d bytes more", b.Memory()-before)
	}
}
