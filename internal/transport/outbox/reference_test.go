package outbox

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// refer appends body between '<' and '>'.
func refer(o *Outbox, body []byte) {
	o.End(append(o.Refer(append(o.Begin(), '<'), body), '>'))
}

// written returns all bytes taken for writing.
func written(o *Outbox) (all []byte) {
	for v := o.TakeVector(); len(v) > 0; v = o.TakeVector() {
		for _, piece := range v {
			if len(piece) == 0 {
				panic("an empty piece")
			}
			all = append(all, piece...)
		}
	}
	return all
}

func TestReferencesAreWrittenInTheirPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	o := New(1<<20, nil)
	o.Reference()
	for range 200 {
		var want []byte
		for range rng.IntN(8) {
			body := bytes.Repeat([]byte{byte('a' + rng.IntN(26))}, rng.IntN(3*MinReference))
			if rng.IntN(2) == 0 {
				put(o, string(body[:len(body)/100]))
				want = append(want, body[:len(body)/100]...)
				continue
			}
			refer(o, body)
			want = append(append(append(want, '<'), body...), '>')
		}
		if got := written(o); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d, or others", len(got), len(want))
		}
		if o.current != nil || o.pending != nil {
			t.Fatal("an idle outbox keeps a buffer")
		}
	}
}

func TestReferCopies(t *testing.T) {
	for name, c := range map[string]struct {
		references bool
		size       int
		copies     bool
	}{
		"small":                {true, MinReference - 1, true},
		"large":                {true, MinReference, false},
		"no references at all": {false, MinReference, true},
	} {
		o := New(1<<20, nil)
		if c.references {
			o.Reference()
		}
		body := make([]byte, c.size)
		refer(o, body)
		body[0] = 'x' // not permitted, but shows whether the body was copied
		if got := written(o); len(got) != c.size+2 || (got[1] == 'x') == c.copies {
			t.Errorf("%s: %d bytes, %q", name, len(got), got[:2])
		}
	}
}

func TestReferencesTakeRoom(t *testing.T) {
	o := NewDirect(MinReference, nil, func([]byte) int { panic("an appender wrote a large body") })
	o.Reference()
	refer(o, make([]byte, MinReference))
	called := false
	o.WhenRoom(func() { called = true })
	b := o.Begin()
	full := !o.RoomFor(b)
	o.End(b)
	if !full || o.HasRoom() || called {
		t.Error("there is room beside a reference")
	}
	o.TakeVector()
	if !o.HasRoom() || !called {
		t.Error("there is no room when the reference is being written")
	}
}

// An append that is abandoned, or comes after Close, leaves no reference.
func TestReferencesInVain(t *testing.T) {
	o := New(1<<20, nil)
	o.Reference()
	body := make([]byte, MinReference)
	refer(o, body)
	b := o.Begin()
	o.Refer(append(b, '<'), body)
	o.End(b)
	if n := len(o.pending.refs); n != 1 || o.pending.size() != len(body)+2 {
		t.Errorf("%d references, %d bytes", n, o.pending.size())
	}
	o.Close()
	refer(o, body)
	if got := written(o); len(got) != len(body)+2 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestBuffersForgetBodies(t *testing.T) {
	b := newBuffer()
	b.b = append(b.b, "<>"...)
	b.refs, b.referred = append(b.refs, reference{1, make([]byte, 5)}), 5
	b.pieces(0)
	b.release()
	if refs, vector := b.refs[:1], b.vector[:3]; refs[0].body != nil || vector[1] != nil || b.size() != 0 {
		t.Error("a body is kept")
	}
}
