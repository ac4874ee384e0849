package peers

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/mail"
	"candlemark/internal/testkit/address"

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
	s := New(w)
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
	q.Answered(1)
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
	s := New(w)
	s.OfTarget(w.self, true).Published()
	s.Leave()
	w.check(t, "unwatch self")
	s.Of(address.Named("q"))
	s.Leave()
	w.check(t, "watch q", "unwatch q", "q *mail.ChannelGone")
}
