package sessions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestStateBounds_SESSION5: the number and the bytes of session states are limited; a replaced or removed state makes room.
func TestStateBounds_SESSION5(t *testing.T) {
	var b backlog.Backlog
	s := New(&b, func(*consumers.Consumer, bool) {})
	for i := range MaxStates {
		id := fmt.Sprint(i)
		if !s.Fits(id, []byte{1}) {
			t.Fatal(i)
		}
		s.SetState(id, []byte{1}, uint64(i), 1)
	}
	if s.Fits("one more", []byte{}) || !s.Fits("0", []byte{1, 2}) || s.States() != MaxStates {
		t.Error("too many states")
	}
	for i := range MaxStates {
		s.SetState(fmt.Sprint(i), nil, 0, 1)
	}
	large := make([]byte, MaxState)
	for i := range MaxStateBytes / MaxState {
		s.SetState(fmt.Sprint(i), large, 0, 1)
	}
	if s.Fits("one more", []byte{1}) || !s.Fits("0", large) || !s.Fits("one more", nil) {
		t.Error("too many bytes")
	}
	for i := range MaxStateBytes / MaxState {
		s.SetState(fmt.Sprint(i), nil, 0, 1)
	}
	if s.Len() != 0 || s.Bytes() != 0 || !s.Idle() {
		t.Errorf("%d sessions, %d bytes", s.Len(), s.Bytes())
	}
}

// TestOrder_SESSION2: random deliveries, returns and removals are compared with a list per session; removed messages leave no
// memory behind.
func TestOrder_SESSION2(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var b backlog.Backlog
	runs := map[*consumers.Consumer]bool{}
	s := New(&b, func(c *consumers.Consumer, can bool) { runs[c] = can })
	ids := []string{"", "a", "b"}
	ready, taken := map[string][]uint64{}, map[string][]uint64{}
	holders := map[string]*consumers.Consumer{"": {Tag: "e"}, "a": {Tag: "a"}, "b": {Tag: "b"}}
	for id, c := range holders {
		s.Lock(id, c, 1<<40)
	}
	at := map[uint64]backlog.Handle{}
	gone := func(list []uint64, i int) []uint64 {
		s.Gone(list[i])
		b.Remove(at[list[i]])
		return slices.Delete(list, i, i+1)
	}
	for seq := uint64(1); seq < 20_000; seq++ {
		id := ids[rng.IntN(len(ids))]
		switch n := rng.IntN(10); {
		case n < 4:
			at[seq] = b.Push(&backlog.Record{Seq: seq})
			s.Add(seq, id)
			s.Enter(seq, at[seq])
			ready[id] = append(ready[id], seq)
		case n < 7:
			h, ok := s.First(holders[id], 1)
			if ok != (len(ready[id]) > 0) || ok && b.Seq(h) != ready[id][0] {
				t.Fatalf("session %s: %d, %v, want %v", id, b.Seq(h), ok, ready[id])
			}
			if ok {
				b.Take(h)
				taken[id], ready[id] = append(taken[id], ready[id][0]), ready[id][1:]
			}
		case n < 8 && len(taken[id]) > 0:
			i := rng.IntN(len(taken[id]))
			back := taken[id][i]
			b.Return(at[back])
			s.Ready(back)
			ready[id] = slices.Sorted(slices.Values(append(ready[id], back)))
			taken[id] = slices.Delete(taken[id], i, i+1)
		case n < 9 && len(taken[id]) > 0:
			taken[id] = gone(taken[id], rng.IntN(len(taken[id])))
		case len(ready[id]) > 0: // it expires, at any position
			ready[id] = gone(ready[id], rng.IntN(len(ready[id])))
		}
		if x := s.byID[id]; len(x.ready) > 2*x.count+65 || !runs[holders[id]] && len(ready[id]) > 0 {
			t.Fatalf("%d places of %d messages, %d ready, holder notified of them: %v", len(x.ready), x.count, len(ready[id]), runs[holders[id]])
		}
	}
	for _, id := range ids {
		for _, seq := range append(ready[id], taken[id]...) {
			s.Gone(seq)
		}
		s.Free(holders[id])
	}
	if !s.Idle() || s.free.Len() != 0 || s.all.Len() != 0 || len(s.timers) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestEnds_SESSION4: locks and waits end in the order of their times, begun in any order.
func TestEnds_SESSION4(t *testing.T) {
	s := New(new(backlog.Backlog), func(*consumers.Consumer, bool) {})
	a, b := &consumers.Consumer{Tag: "a"}, &consumers.Consumer{Tag: "b"}
	s.Lock("a", a, 50)
	s.Lock("b", b, 20)
	w := &Waiter{Any: true, Consumer: &consumers.Consumer{Tag: "w"}}
	if answer, _ := s.Ask(w, 0, 30); answer != Waits {
		t.Fatal(answer)
	}
	for _, at := range []int64{20, 30, 50} {
		if next, ok := s.Next(); !ok || next != at {
			t.Errorf("next at %d, want %d", next, at)
		}
		if lost, late := s.Advance(at); len(lost)+len(late) != 1 || (at == 30) != (len(late) == 1) {
			t.Errorf("at %d: %v, %v", at, lost, late)
		}
	}
}

// TestLockEnds_SESSION4: the holder of a session gets no more messages from the ms in which its lock ends.
func TestLockEnds_SESSION4(t *testing.T) {
	var b backlog.Backlog
	s := New(&b, func(*consumers.Consumer, bool) {})
	c := &consumers.Consumer{}
	s.Lock("a", c, 50)
	s.Add(1, "a")
	s.Enter(1, b.Push(&backlog.Record{Seq: 1}))
	for _, at := range []int64{49, 50} {
		_, ok := s.First(c, at)
		if holder, _ := s.Holder("a", at); ok != (at < 50) || (holder == c) != ok {
			t.Errorf("at %d: %v, held by %v", at, ok, holder)
		}
	}
}

// TestFree_SESSION4: a free session is offered only if it has a ready message.
func TestFree_SESSION4(t *testing.T) {
	for _, ready := range []bool{false, true} {
		var b backlog.Backlog
		s := New(&b, func(*consumers.Consumer, bool) {})
		c := &consumers.Consumer{}
		s.Lock("a", c, 50)
		h := b.Push(&backlog.Record{Seq: 1})
		s.Add(1, "a")
		if s.Enter(1, h); !ready {
			b.Take(h)
		}
		if s.Free(c); (s.free.Len() == 1) != ready {
			t.Errorf("%d are offered; ready: %v", s.free.Len(), ready)
		}
	}
}

// TestPlaces_SESSION2: outdated entries of a message that became ready repeatedly are cleared together, so that the cost of a
// return does not depend on the number of messages.
func TestPlaces_SESSION2(t *testing.T) {
	var b backlog.Backlog
	s := New(&b, func(*consumers.Consumer, bool) {})
	h := b.Push(&backlog.Record{Seq: 1})
	s.Add(1, "a")
	s.Enter(1, h)
	for n := 1; n < 200; n++ {
		if places := len(s.byID["a"].ready); places != (n-1)%66+1 {
			t.Fatalf("%d places after %d times", places, n)
		}
		s.Ready(1)
	}
}

// TestBytes: every message and every session is counted.
func TestBytes(t *testing.T) {
	s := New(new(backlog.Backlog), func(*consumers.Consumer, bool) {})
	for i := range 6 {
		if want := int64(i*each + (i+1)/2*perSession); s.Bytes() != want {
			t.Errorf("%d bytes of %d messages, want %d", s.Bytes(), i, want)
		}
		s.Add(uint64(i), fmt.Sprint(i/2))
	}
}
