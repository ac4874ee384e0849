package routing

import (
	"testing"

	"candlemark/integration/testkit/rules"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// TestFound: a stored route keeps its targets, and is not remembered as the route of the last key.
func TestFound(t *testing.T) {
	r := newRig()
	x, _, err := r.Exchange(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &message.Message{RoutingKey: []byte("a"), Body: []byte("1"), Owned: true}
	targets, _ := r.Find(x, m, [][]byte{[]byte("b")}, nil)
	found := r.Stored(targets)
	r.vhost.Publish(r.vhost.Directory().WithoutQueue("b").WithQueue(queue("c")))
	r.publish(t, 0, "2", "c")
	again := r.Again(x, m.RoutingKey, nil, &found)
	r.Add(m, again, r.Caps(), nil)
	r.publish(t, 0, "3", "c")
	r.check(t, "c 2 3", "a 1", "b 1")
}

// TestEnlarged_DL33: what an action may add to a copy counts as copies, also if there is one queue. If there are several, the
// properties count, too, which such a copy does not share.
func TestEnlarged_DL33(t *testing.T) {
	r := newRig()
	large := rules.Enlarging(queue("a"))
	small := rules.Acting(queue("s"), "SET a = 1")
	for _, row := range []struct {
		to         []*topology.Queue
		properties int // bytes
		want       int
	}{
		{nil, 2, 0},
		{[]*topology.Queue{queue("a")}, 2, 0},
		{[]*topology.Queue{queue("a"), queue("b")}, 94 << 10, 1},
		{[]*topology.Queue{large}, 2, 8},
		{[]*topology.Queue{large}, 94 << 10, 98},
		{[]*topology.Queue{queue("b"), large}, 2, 9},
		{[]*topology.Queue{queue("b"), large}, 94 << 10, 193},
		{[]*topology.Queue{small}, 94 << 10, 0},
		{[]*topology.Queue{queue("b"), small}, 94 << 10, 95},
		{[]*topology.Queue{queue("b"), small}, 1023, 1},
	} {
		m := &message.Message{Header: make([]byte, row.properties), Owned: true}
		targets := r.Targets(row.to)
		if got, more := Copies(targets, m), Multiplies(targets, m); got != row.want || more != (row.want > 0) {
			t.Errorf("%d copies for %d queues, want %d; %v", got, len(row.to), row.want, more)
		}
		if route := (StoredRoute{queues: row.to}); route.Copies(m) != row.want {
			t.Errorf("%d copies of a stored route, want %d", route.Copies(m), row.want)
		}
		before := 0
		if r.Add(m, targets, nil, nil); len(targets) > 0 {
			for _, target := range targets {
				before += target.copies
			}
		}
		if several := min(len(row.to)-1, 1); before != row.want+several && len(row.to) > 0 {
			t.Errorf("%d copies are on their way to %d queues, want %d", before, len(row.to), row.want+several)
		}
		r.Flush()
	}
}
