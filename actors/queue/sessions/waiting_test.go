package sessions

import (
	"fmt"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/integration/testkit/address"
)

// TestWaitingBounds: one connection may use MaxOfOne of the MaxWaiting places of a queue; a released place can be taken by
// another waiter.
func TestWaitingBounds(t *testing.T) {
	var b backlog.Backlog
	s := New(&b, func(*consumers.Consumer, bool) {})
	if !s.Idle() || s.Len() != 0 {
		t.Error("there is something")
	}
	ask := func(connection int) (*Waiter, Answer) {
		w := &Waiter{Any: true, Consumer: &consumers.Consumer{Connection: address.Named(fmt.Sprint(connection))}}
		answer, _ := s.Ask(w, 1000, 2000)
		return w, answer
	}
	var all []*Waiter
	for c := range MaxWaiting / MaxOfOne {
		for i := range MaxOfOne {
			w, answer := ask(c)
			if answer != Waits {
				t.Fatalf("place %d of connection %d: %v", i, c, answer)
			}
			all = append(all, w)
		}
		if _, answer := ask(c); answer != Full {
			t.Errorf("one more of connection %d: %v", c, answer)
		}
	}
	if _, answer := ask(MaxWaiting); answer != Full || s.Idle() {
		t.Errorf("one more of the queue: %v", answer)
	}
	s.GiveUp(all[0])
	if _, answer := ask(1); answer != Full {
		t.Errorf("of a connection that has all its places: %v", answer)
	}
	s.GiveUp(all[MaxOfOne])
	for c := range 2 {
		w, answer := ask(c)
		if all[c*MaxOfOne] = w; answer != Waits {
			t.Errorf("a place that connection %d gave up: %v", c, answer)
		}
		if _, answer := ask(c); answer != Full {
			t.Errorf("one more of connection %d, which gave up one: %v", c, answer)
		}
	}
	for _, w := range all {
		s.GiveUp(w)
	}
	if !s.Idle() || len(s.waits) != 0 || len(s.timers) != 0 {
		t.Errorf("%d waits, %d timers", len(s.waits), len(s.timers))
	}
	if _, answer := ask(0); answer != Waits || s.Idle() {
		t.Errorf("behind all: %v", answer)
	}
}

// TestIdle: an entry with members, sessions or waiting receivers is kept.
func TestIdle(t *testing.T) {
	var none *Sessions
	if none.Len() != 0 || !none.Idle() {
		t.Error("nil holds something")
	}
	var b backlog.Backlog
	s := New(&b, func(*consumers.Consumer, bool) {})
	s.Expect(1) // a message whose session was not read yet
	if s.Idle() {
		t.Error("idle with a message")
	}
	s.Know(1, "a")
	if s.Idle() || s.Len() != 1 {
		t.Error("idle with a session")
	}
	w := &Waiter{Any: true, Consumer: &consumers.Consumer{}}
	if answer, _ := s.Ask(w, 0, 10); answer != Waits || s.Idle() {
		t.Error("idle with a session and one who waits")
	}
	s.GiveUp(w)
	s.Gone(1)
	if !s.Idle() || s.Len() != 0 {
		t.Error("something is left")
	}
}
