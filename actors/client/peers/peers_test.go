package peers

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/transport/budget"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watcher records calls. It is also the peer "self".
type watcher struct {
	self  mail.Address
	heard []string
}

func (w *watcher) Self() mail.Address     { return w.self }
func (w *watcher) Watch(a mail.Address)   { w.heard = append(w.heard, "watch "+a.GetId()) }
func (w *watcher) Unwatch(a mail.Address) { w.heard = append(w.heard, "unwatch "+a.GetId()) }
func (w *watcher) Send(a mail.Address, x any) {
	w.heard = append(w.heard, fmt.Sprintf("%s %T", a.GetId(), x))
}

func (w *watcher) check(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(w.heard, want) {
		t.Errorf("heard %q, want %q", w.heard, want)
	}
	w.heard = nil
}

// A peer that ended is reported as gone only when none of its answers can be under way.
func TestPeers_Gone(t *testing.T) {
	w := &watcher{self: address.Named("self")}
	s := New(w, nil)
	q := s.Of(address.Named("q"))
	if s.Of(address.Named("q")) != q || s.Find(address.Named("q")) != q || s.Find(nil) != nil {
		t.Error("not the same")
	}
	w.check(t, "watch q")
	q.Published()
	if s.Gone(address.Named("q")) != nil {
		t.Error("gone, and an answer may be on its way")
	}
	w.check(t, "self *mail.PeerGone")
	q.Published()
	s.Answered(q, 1)
	if s.Gone(address.Named("q")) != nil { // one more was sent
		t.Error("gone too soon")
	}
	w.check(t, "self *mail.PeerGone")
	if p := s.Gone(address.Named("q")); p != q || !q.Gone || p.Unconfirmed() != 1 || s.Find(address.Named("q")) != nil {
		t.Errorf("%+v", p)
	}
	if s.Gone(address.Named("q")) != nil {
		t.Error("gone twice")
	}
	w.check(t)
}

// Queues are informed that the channel is gone; channels that only receive replies are not.
func TestPeers_Leave(t *testing.T) {
	w := &watcher{self: address.Named("self")}
	s := New(w, nil)
	s.OfTarget(w.self, true).Published()
	s.Leave()
	w.check(t, "unwatch self")
	s.Of(address.Named("q"))
	s.Leave()
	w.check(t, "watch q", "unwatch q", "q *mail.ChannelGone")
}

// Without room a channel forgets queues to which it only published and that have answered, and no others.
func TestPeers_Room_PRO21(t *testing.T) {
	w := &watcher{self: address.Named("self")}
	o := budget.NewObjects()
	holder := o.Connection("u", "/")
	s := New(w, holder)
	name := func(i int) mail.Address { return address.Named(fmt.Sprint("q", i)) }
	consumed, waits := s.Of(name(0)), s.OfTarget(name(1), false)
	s.OfTarget(name(0), false)
	waits.Published()
	for i := 2; i < 1000; i++ {
		s.OfTarget(name(i), false)
	}
	if len(s.byID) != 1000 || holder.Held() != 1000*budget.PricePeer {
		t.Fatalf("%d, %d", len(s.byID), holder.Held())
	}
	o.SetLimit(1)
	rest := o.Connection("u", "/")
	rest.Hold(1 << 30)
	w.heard = nil
	again := s.Find(name(500))
	s.OfTarget(name(1000), false)
	if len(s.byID) != 3 || s.targets != 2 || holder.Held() != 3*budget.PricePeer || len(w.heard) != 999 {
		t.Errorf("%d known, %d targets, %d bytes, %d watches changed", len(s.byID), s.targets, holder.Held(), len(w.heard))
	}
	if consumed.Gone || waits.Gone || !again.Gone || s.OfTarget(name(500), false) == again {
		t.Error("the wrong ones are forgotten")
	}
	for i := range 10_000 {
		s.OfTarget(name(2000+i), false)
		if len(s.byID) > minTargets+2 {
			t.Fatal(len(s.byID))
		}
	}
	known := len(s.byID)
	var busy []*QueueLink
	for i := range 100 {
		busy = append(busy, s.OfTarget(name(20_000+i), false))
		busy[i].Published()
	}
	for _, p := range busy { // for any number, the client need not publish again
		s.Answered(p, 1)
	}
	if len(s.byID) > max(known, minTargets+2) {
		t.Errorf("%d queues are known", len(s.byID))
	}
	s.Leave()
	if holder.Held() != 0 {
		t.Errorf("%d bytes are left", holder.Held())
	}
}
