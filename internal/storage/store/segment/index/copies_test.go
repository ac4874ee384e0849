package index

import (
	"math/rand/v2"
	"testing"

	"candlemark/internal/storage/store"
)

// copied is the model of a message: what it is a copy of, nil for none.
type copied struct{ of *store.Origin }

// TestOnce_DUR6: messages are copied from queue to queue and removed at random, also in runs, as whole queues, and originals before
// they are put. Without copies, the index has each message whose original is not there, and nothing is remembered in the end.
func TestOnce_DUR6(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 8))
	x, seg := NewIndex(), &Segment{Seq: 1}
	there, next := map[store.Origin]copied{}, [4]uint64{}
	put := func(m store.Origin, of *store.Origin) {
		x.Queue(m.Queue).Put(seg, m.Seq, false, 64)
		if of != nil {
			x.Copies.Put(m, *of)
		}
		there[m] = copied{of}
	}
	drop := func(m store.Origin) {
		for child, c := range there {
			if c.of != nil && *c.of == m {
				there[child] = copied{there[m].of}
			}
		}
		delete(there, m)
	}
	fresh := func() store.Origin {
		q := random.IntN(len(next))
		next[q]++
		return store.Origin{Queue: store.QueueID(q + 1), Seq: next[q]}
	}
	for range 1500 {
		m := fresh()
		switch random.IntN(8) {
		case 0:
			put(m, nil)
		case 1: // a copy is put first
			c := fresh()
			put(c, &m)
			put(m, nil)
		case 2:
			r := &store.Record{Kind: store.Remove, First: uint64(random.IntN(int(m.Seq))) + 1}
			if r.Last = r.First + uint64(random.IntN(6)); random.IntN(100) == 0 {
				r = &store.Record{Kind: store.Retire, Last: m.Seq}
			}
			x.Apply(x.Queue(m.Queue), r)
			for seq := r.First; seq <= r.Last; seq++ {
				old := store.Origin{Queue: m.Queue, Seq: seq}
				if _, is := there[old]; is {
					drop(old)
				}
			}
		default:
			for of := range there { // any
				put(m, &of)
				break
			}
		}
		checkOnce(t, x, there)
	}
	for q := range next {
		x.Apply(x.Queue(store.QueueID(q+1)), &store.Record{Kind: store.Retire})
	}
	if n := len(x.Copies.of) + len(x.Copies.from); n > 0 {
		t.Errorf("%d are left", n)
	}
}

func checkOnce(t *testing.T, x *Index, there map[store.Origin]copied) {
	t.Helper()
	once, all, want := x.Once(), x.Stored(), 0
	for m, c := range there {
		is := c.of == nil || x.stored(*c.of) == nil
		if is {
			want++
		}
		if (once.stored(m) != nil) != is {
			t.Fatalf("%v of %v: it is there %v", m, c.of, !is)
		}
	}
	if n := once.Stored(); n != want || x.Stored() != all || all != len(there) {
		t.Fatalf("%d of %d messages, want %d of %d", n, all, want, len(there))
	}
}
