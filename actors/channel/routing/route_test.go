package routing

import (
	"testing"

	"candlemark/internal/message"
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
