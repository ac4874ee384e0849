package routing

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/client/peers"
	"candlemark/actors/client/rights"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type watcher struct{ sent []string }

func (w *watcher) Self() mail.Address   { return nil }
func (w *watcher) Watch(mail.Address)   {}
func (w *watcher) Unwatch(mail.Address) {}

func (w *watcher) Send(to mail.Address, what any) {
	e := what.(*mail.Enqueue)
	text := to.GetId()
	for _, m := range e.Messages {
		text += " " + string(m.Body)
	}
	w.sent = append(w.sent, text)
	e.Release()
}

type rig struct {
	watcher
	*RouteCache
	Batches
	peers peers.QueueLinks
	gate  *message.Gate
	perms *users.Fixed
	vhost *topology.VHost
}

// newRig has the queues a and b, and r for replies.
func newRig() *rig {
	r := &rig{gate: message.NewGate(1 << 20), perms: &users.Fixed{}, vhost: topology.NewVHost("/")}
	d := r.vhost.Directory().WithExchange(&topology.Exchange{Type: "direct"})
	for _, name := range []string{"a", "b"} {
		d = d.WithQueue(queue(name))
	}
	r.vhost.Publish(d)
	r.peers = peers.New(&r.watcher, nil)
	r.Batches = NewBatches(&r.watcher, &r.peers, nil, r.gate)
	r.RouteCache = NewRoutes(&rights.Rights{User: auth.User{Name: "guest"}, VHost: r.vhost, Permissions: r.perms}, &r.Batches)
	return r
}

func queue(name string) *topology.Queue {
	return &topology.Queue{Name: name, PID: address.Named(name)}
}

// publish routes one message to queues of the default exchange.
func (r *rig) publish(t *testing.T, number uint64, body, key string, more ...string) []*Target {
	t.Helper()
	x, _, err := r.Exchange(nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	for _, k := range more {
		keys = append(keys, []byte(k))
	}
	m := &message.Message{RoutingKey: []byte(key), Body: []byte(body), Owned: true, Number: number}
	targets, err := r.Find(x, m, keys, nil)
	if err != nil || r.Over() {
		t.Fatal(err, r.Over())
	}
	r.Add(m, targets, r.Caps(), nil)
	return targets
}

func (r *rig) check(t *testing.T, want ...string) {
	t.Helper()
	r.Flush()
	if !slices.Equal(r.sent, want) || r.gate.Used() != 0 {
		t.Errorf("sent %q, want %q; %d bytes are charged", r.sent, want, r.gate.Used())
	}
	r.sent = nil
}

// A turn has one batch per queue, in the order of the first message for each.
func TestBatches(t *testing.T) {
	r := newRig()
	r.publish(t, 1, "1", "b")
	r.publish(t, 2, "2", "a", "b", "a")
	r.publish(t, 3, "3", "nobody")
	r.publish(t, 4, "4", "b")
	r.check(t, "b 1 2 4", "a 2")
	r.check(t)
	for name, want := range map[string]int{"a": 1, "b": 3} {
		if p := r.peers.Find(queue(name).PID); p.Unconfirmed() != want {
			t.Errorf("%s: %d unconfirmed", name, p.Unconfirmed())
		}
	}
	r.publish(t, 0, "5", "a")
	r.Release()
	r.check(t)
}

// The last route is reused until the snapshot changes; permissions are checked once per read.
func TestRoutes_Remembered(t *testing.T) {
	r := newRig()
	r.publish(t, 0, "1", "a")
	steps := r.Steps()
	r.publish(t, 0, "2", "a")
	if r.Steps() != steps || steps == 0 {
		t.Errorf("%d steps, then %d", steps, r.Steps())
	}
	r.check(t, "a 1 2")
	r.vhost.Publish(r.vhost.Directory().WithQueue(queue("c")))
	if r.publish(t, 0, "3", "a"); r.Len() != 1 || r.Steps() == steps {
		t.Errorf("%d queues are remembered", r.Len())
	}
	r.check(t, "a 3")
	r.perms.Refused = []users.Refusal{{User: "guest", Resource: auth.Resource{Kind: auth.Exchange}, Permission: auth.Write}}
	r.publish(t, 0, "4", "a")
	r.check(t, "a 4")
	r.granted-- // as if the permissions had changed
	r.BeginRead(0)
	if _, _, err := r.Exchange(nil); err == nil {
		t.Error("still allowed")
	}
}

// The route to a requester is remembered only until the end of the turn.
func TestRoutes_Requesters(t *testing.T) {
	r := newRig()
	name := r.vhost.AddRequester("x", queue("r").PID).Name
	for i := range 2 {
		if targets := r.publish(t, 0, "reply", name, name); len(targets) != 1 || r.Len() != 1 {
			t.Errorf("%d targets, %d remembered", len(targets), r.Len())
		}
		r.check(t, "r reply")
		if r.Len() != 0 {
			t.Error(fmt.Sprint(i), "remembered")
		}
	}
}
