package topology

import (
	"slices"
	"testing"

	"candlemark/protocol"
)

// fixture is one vhost's directory with a router, with short methods for tests.
type fixture struct {
	t         testing.TB
	directory *Directory
	router    Router
}

func newFixture(t testing.TB) *fixture {
	h := &fixture{t: t, directory: &Directory{}}
	h.directory = h.directory.WithExchange(&Exchange{Type: "direct"})
	return h
}

// queue finds or declares a queue.
func (h *fixture) queue(name string) *Queue {
	if q := h.directory.Queue([]byte(name)); q != nil {
		return q
	}
	q := &Queue{Name: name}
	h.directory = h.directory.WithQueue(q)
	return q
}

// exchange declares an exchange with an empty table.
func (h *fixture) exchange(name, kind string) *Exchange {
	x := &Exchange{Name: name, Type: kind}
	h.directory = h.directory.WithExchange(x)
	x.Publish(newRoutes(h.t, kind))
	return x
}

func newRoutes(t testing.TB, kind string) *BindingTable {
	t.Helper()
	r, ok := NewRoutes(kind, nil)
	if !ok {
		t.Fatalf("no exchange type %q", kind)
	}
	return r
}

// bind binds a queue and publishes the table.
func (h *fixture) bind(x *Exchange, queue, key string, args protocol.Table) {
	h.t.Helper()
	h.change(x, Binding{Destination: queue, RoutingKey: key, Arguments: args}, Target{Queue: h.queue(queue)})
}

// bindExchange binds an exchange and publishes the table.
func (h *fixture) bindExchange(x, to *Exchange, key string) {
	h.t.Helper()
	h.change(x, Binding{Destination: to.Name, ToExchange: true, RoutingKey: key}, Target{Exchange: to})
}

func (h *fixture) change(x *Exchange, b Binding, to Target) {
	h.t.Helper()
	r, added := x.Routes().With(b, to)
	if !added {
		h.t.Fatalf("binding %v was there already", b)
	}
	x.Publish(r)
}

// route returns the names of the queues, sorted.
func (h *fixture) route(x *Exchange, key string, headers protocol.Table) []string {
	h.t.Helper()
	return namesOf(h.t, h.router.Route(h.directory, x, []byte(key), func() protocol.Table { return headers }))
}

// namesOf returns the sorted names, and fails on a duplicate.
func namesOf(t testing.TB, queues []*Queue) []string {
	t.Helper()
	list := make([]string, len(queues))
	for i, q := range queues {
		list[i] = q.Name
	}
	slices.Sort(list)
	if len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Fatalf("a queue comes twice: %v", list)
	}
	return list
}

func (h *fixture) expect(x *Exchange, key string, want ...string) {
	h.t.Helper()
	if got := h.route(x, key, nil); !slices.Equal(got, want) {
		h.t.Errorf("exchange %q, key %q: got %q, want %q", x.Name, key, got, want)
	}
}
