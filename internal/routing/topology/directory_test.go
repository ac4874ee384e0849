package topology

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"candlemark/protocol"
)

func queueNames(d *Directory) (list []string) {
	for q := range d.Queues() {
		list = append(list, q.Name)
	}
	return list
}

func TestDirectoryFindsByName(t *testing.T) {
	d := &Directory{}
	if d.Queue([]byte("q")) != nil || d.Exchange(nil) != nil || d.QueueCount() != 0 || d.ExchangeCount() != 0 {
		t.Errorf("an empty directory finds something")
	}
	q, x, unnamed := &Queue{Name: "n"}, &Exchange{Name: "n"}, &Exchange{}
	d = d.WithQueue(q).WithExchange(x).WithExchange(unnamed)
	if d.Queue([]byte("n")) != q || d.Exchange([]byte("n")) != x || d.Exchange([]byte{}) != unnamed {
		t.Errorf("queues and exchanges of one name are mixed up")
	}
	again := &Queue{Name: "n", Incarnation: 2}
	next := d.WithQueue(again)
	if d.Queue([]byte("n")) != q || next.Queue([]byte("n")) != again || next.QueueCount() != 1 {
		t.Errorf("the new incarnation does not stand in the place of the old one")
	}
	if d.WithoutQueue("m") != d || d.WithoutExchange("m") != d {
		t.Errorf("taking away what is not there makes a new directory")
	}
	bare := d.WithoutQueue("n").WithoutExchange("n")
	if bare.Queue([]byte("n")) != nil || bare.Exchange([]byte("n")) != nil || bare.ExchangeCount() != 1 {
		t.Errorf("something is left")
	}
}

// Snapshots of both forms of the tree are unchanged after later additions and removals.
func TestDirectorySnapshotsStay(t *testing.T) {
	all := []*Directory{{}}
	var want []string
	for i := range 60 {
		want = append(want, fmt.Sprintf("q%02d", i*37%60))
		all = append(all, all[i].WithQueue(&Queue{Name: want[i]}))
	}
	down := []*Directory{all[60]}
	for i := range 60 {
		down = append(down, down[i].WithoutQueue(want[i]))
	}
	for i := range 61 {
		up, left := slices.Sorted(slices.Values(want[:i])), slices.Sorted(slices.Values(want[i:]))
		if got := queueNames(all[i]); !slices.Equal(got, up) || all[i].QueueCount() != i {
			t.Errorf("%d queues: %q, want %q", i, got, up)
		}
		if got := queueNames(down[i]); !slices.Equal(got, left) || down[i].QueueCount() != 60-i {
			t.Errorf("%d queues taken away: %q, want %q", i, got, left)
		}
		for j, name := range want {
			if found := all[i].Queue([]byte(name)) != nil; found != (j < i) {
				t.Errorf("%d queues: %q found %v", i, name, found)
			}
		}
	}
	for q := range all[60].Queues() {
		if q.Name != "q00" {
			t.Errorf("%q comes first", q.Name)
		}
		break
	}
}

func TestVHostGeneration(t *testing.T) {
	v := NewVHost("/")
	if v.Directory() == nil || v.Generation() != 0 {
		t.Errorf("a new vhost has directory %v, generation %d", v.Directory(), v.Generation())
	}
	d := v.Directory().WithQueue(&Queue{Name: "q"})
	v.Publish(d)
	if v.Directory() != d || v.Generation() != 1 {
		t.Errorf("after Publish: generation %d", v.Generation())
	}
	if v.Bump(); v.Generation() != 2 {
		t.Errorf("after Bump: generation %d", v.Generation())
	}
}

func TestExchangeWithoutTableRoutesNothing(t *testing.T) {
	h := newFixture(t)
	x := &Exchange{Name: "x"}
	h.expect(x, "a")
	if x.Routes().Len() != 0 {
		t.Errorf("it has %d bindings", x.Routes().Len())
	}
}

func TestRoutesKnowTheirBindings(t *testing.T) {
	if r, ok := NewRoutes("x-delayed-message", nil); ok || r != nil {
		t.Errorf("a table for an unknown type")
	}
	r := newRoutes(t, "direct")
	q, x := Target{Queue: &Queue{Name: "n"}}, Target{Exchange: &Exchange{Name: "n"}}
	add := func(b Binding, to Target) (added bool) {
		r, added = r.With(b, to)
		return added
	}
	same := Binding{Destination: "n", RoutingKey: "k", Arguments: table("a", int32(1), "b", "2")}
	for _, b := range []Binding{
		same,
		{Destination: "n", RoutingKey: "k"},
		{Destination: "n", RoutingKey: "k", Arguments: table("a", int64(1), "b", "2")},
		{Destination: "n", RoutingKey: "k", Arguments: table("a", int32(1))},
		{Destination: "n", RoutingKey: ""},
		{Destination: "n2", RoutingKey: "k"},
	} {
		if !add(b, q) {
			t.Errorf("%v equals another binding", b)
		}
	}
	if !add(Binding{Destination: "n", ToExchange: true, RoutingKey: "k"}, x) {
		t.Errorf("a queue equals an exchange")
	}
	if add(Binding{Destination: "n", RoutingKey: "k", Arguments: table("b", "2", "a", int32(1))}, q) {
		t.Errorf("the order of arguments counts")
	}
	if got := len(slices.Collect(r.Bindings())); got != 7 || r.Len() != 7 {
		t.Errorf("%d bindings, Len %d, want 7", got, r.Len())
	}
	if got := len(slices.Collect(r.BindingsTo("n", false))); got != 5 {
		t.Errorf("%d bindings to the queue, want 5", got)
	}
	if got := len(slices.Collect(r.BindingsTo("n", true))); got != 1 {
		t.Errorf("%d bindings to the exchange, want 1", got)
	}
	if left := r.WithoutDestination("n", false); left.Len() != 2 || r.Len() != 7 {
		t.Errorf("%d bindings left, want 2", left.Len())
	}
	if r.WithoutDestination("nobody", false) != r || r.WithAlternate("") != r {
		t.Errorf("a change of nothing makes a new table")
	}
}

// Readers route while two writers change everything; queues and bindings that no writer changes must always be found. Run with -race.
func TestReadersNeverWait(t *testing.T) {
	v, h := NewVHost("/"), newFixture(t)
	exchanges := []*Exchange{h.exchange("d", "direct"), h.exchange("f", "fanout"), h.exchange("t", "topic"), h.exchange("h", "headers")}
	for _, x := range exchanges {
		h.bind(x, "stays", "a.b", table("n", "1"))
	}
	v.Publish(h.directory)
	stays := h.queue("stays")

	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	writers.Go(func() {
		for i := range 2000 {
			name := fmt.Sprint("q", i%100)
			for _, x := range exchanges {
				r, _ := x.Routes().With(Binding{Destination: name, RoutingKey: "a.b", Arguments: table("n", "1")}, Target{Queue: &Queue{Name: name}})
				if i%3 == 0 {
					r = r.WithoutDestination(name, false)
				}
				x.Publish(r)
				v.Bump()
			}
		}
	})
	writers.Go(func() {
		for i := range 5000 {
			d := v.Directory().WithQueue(&Queue{Name: fmt.Sprint("q", i%50)})
			v.Publish(d.WithoutQueue(fmt.Sprint("q", i%7)))
		}
	})
	for range 4 {
		readers.Go(func() {
			var r Router
			for generation := uint64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				for _, x := range exchanges {
					found := r.Route(v.Directory(), x, []byte("a.b"), func() protocol.Table { return table("n", "1") })
					if !slices.Contains(found, stays) {
						t.Errorf("exchange %q does not reach the queue that stays", x.Name)
						return
					}
				}
				if g := v.Generation(); g < generation {
					t.Errorf("generation %d after %d", g, generation)
					return
				} else {
					generation = g
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

// TestEnding_LEASE14: a queue that is ending is listed in its place, and is no queue otherwise.
func TestEnding_LEASE14(t *testing.T) {
	d := &Directory{}
	for _, name := range []string{"b", "a", "d", "c"} {
		d = d.WithQueue(&Queue{Name: name})
	}
	ending := d.WithQueue(&Queue{Name: "b", Ending: EndedLease}).WithQueue(&Queue{Name: "e", Ending: EndedUnused}).WithExchange(&Exchange{Name: "x"})
	names := func(all iter.Seq[*Queue]) (list string) {
		for q := range all {
			list += q.Name
		}
		return list
	}
	for _, row := range []struct{ what, got, want string }{
		{"before", names(d.AllListed()), "abcd"},
		{"queues", names(ending.Queues()), "acd"},
		{"listed", names(ending.AllListed()), "abcde"},
		{"keepers", names(ending.Keepers()), "abcde"},
		{"again", names(ending.WithQueue(&Queue{Name: "b"}).Queues()), "abcd"},
		{"gone", names(ending.WithoutQueue("b").WithoutExchange("x").AllListed()), "acde"},
	} {
		if row.got != row.want {
			t.Errorf("%s: %s, want %s", row.what, row.got, row.want)
		}
	}
	if ending.Queue([]byte("b")) != nil || ending.Listed([]byte("b")) == nil || ending.Listed([]byte("a")) == nil || ending.QueueCount() != 5 {
		t.Error("it is a queue, or not listed")
	}
	for range ending.AllListed() {
		break
	}
}
