package routefinder

import (
	"fmt"
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// newExchange returns a vhost whose exchange x leads to queue q for one binding.
func newExchange(kind, key string, args protocol.Table) (*topology.VHost, *topology.Exchange) {
	v, q := topology.NewVHost("/"), &topology.Queue{Name: "q"}
	routes, _ := topology.NewRoutes(kind, nil)
	routes, _ = routes.With(topology.Binding{Destination: q.Name, RoutingKey: key, Arguments: args}, topology.Target{Queue: q})
	x := &topology.Exchange{Name: "x", Type: kind}
	x.Publish(routes)
	v.Publish(v.Directory().WithQueue(q).WithExchange(x))
	return v, x
}

// Only a route that depends on one key and nothing else is remembered.
func TestFinder_Remembers(t *testing.T) {
	v, x := newExchange("direct", "a", nil)
	var f Finder
	for _, c := range []struct {
		key    string
		more   [][]byte
		queues int
		want   bool
	}{
		{"a", nil, 1, true},
		{"b", nil, 0, true},
		{"b", [][]byte{[]byte("a")}, 1, false},
	} {
		queues := f.Find(v.Directory(), x, Content{}, []byte(c.key), c.more)
		if len(queues) != c.queues || len(f.Queues()) != c.queues || f.Remembers([]byte(c.key)) != c.want || f.Remembers([]byte("c")) {
			t.Errorf("%s: %d queues, remembered: %t", c.key, len(queues), f.Remembers([]byte(c.key)))
		}
	}
	f.Find(v.Directory(), x, Content{}, []byte("a"), nil)
	if f.Forget(); f.Remembers([]byte("a")) || f.Queues() != nil {
		t.Error("still remembered")
	}
	v, x = newExchange("headers", "", protocol.Table{{Key: "h", Value: int64(1)}})
	if f.Find(v.Directory(), x, Content{}, []byte("a"), nil); f.Remembers([]byte("a")) {
		t.Error("remembered although the next message may have other headers")
	}
}

// Headers come from the raw table, from the property list, or from both the list and what the overlay adds.
func TestFinder_Headers(t *testing.T) {
	headers := protocol.Table{{Key: "h", Value: int64(1)}}
	p := protocol.Properties{Flags: protocol.FlagHeaders, Headers: headers}
	list, plain := p.Append(nil), []byte{0, 0}
	scan, err := protocol.ScanProperties(list)
	if err != nil {
		t.Fatal(err)
	}
	delayed := protocol.Table{{Key: "h", Value: int64(1)}, {Key: "x-delay", Value: int64(-5)}, {Key: "x-match", Value: "all-with-x"}}
	for i, c := range []struct {
		wanted protocol.Table
		of     Content
		found  int
	}{
		{headers, Content{}, 0},
		{headers, Content{Header: plain}, 0},
		{headers, Content{Header: list}, 1},
		{headers, Content{Header: plain, Headers: scan.Headers}, 1},
		{delayed, Content{Header: list}, 0},
		{delayed, Content{Header: list, Overlay: &message.Overlay{Delayed: 5}}, 1},
		{delayed, Content{Header: plain, Overlay: &message.Overlay{Delayed: 5}}, 0},
	} {
		v, x := newExchange("headers", "", c.wanted)
		var f Finder
		queues := f.Find(v.Directory(), x, c.of, nil, nil)
		long, ok := Long(v, x, c.of, nil, nil).Find()
		if got := fmt.Sprint(len(queues), len(long.Queues), ok); got != fmt.Sprint(c.found, c.found, true) {
			t.Errorf("%d: %s, want %d", i, got, c.found)
		}
	}
}
