package topology

import (
	"testing"

	"candlemark/protocol"
)

// A queue that moves to another actor keeps its bindings, in tables of every type.
func TestWithMoved(t *testing.T) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		t.Run(kind, func(t *testing.T) {
			before, after, other := &Queue{Name: "q"}, &Queue{Name: "q"}, &Queue{Name: "other"}
			bindings := []Binding{
				{Destination: "q", RoutingKey: "k"},
				{Destination: "q", RoutingKey: "k", Arguments: table("x-match", "any", "k", "v")},
				{Destination: "q", RoutingKey: "k", Arguments: table("k", "v")},
			}
			r := newRoutes(t, kind)
			for _, b := range bindings {
				r, _ = r.With(b, Target{Queue: before})
			}
			r, _ = r.With(Binding{Destination: "other", RoutingKey: "k"}, Target{Queue: other})
			moved := r.WithMoved(after)
			if moved.Len() != r.Len() || moved.WithMoved(&Queue{Name: "nobody"}) != moved {
				t.Errorf("%d bindings of %d", moved.Len(), r.Len())
			}
			for routes, want := range map[*BindingTable]*Queue{r: before, moved: after} {
				x, seen := &Exchange{Name: "x"}, map[*Queue]bool{}
				x.Publish(routes)
				var router Router
				for _, q := range router.Route(&Directory{}, x, []byte("k"), func() protocol.Table { return table("k", "v") }) {
					seen[q] = true
				}
				if len(seen) != 2 || !seen[want] || !seen[other] {
					t.Errorf("routed to %v", seen)
				}
			}
			for _, b := range bindings {
				if !moved.Has(b) {
					t.Errorf("lost %v", b)
				}
				moved, _ = moved.Without(b)
			}
			if moved.Len() != 1 || moved.Has(bindings[0]) {
				t.Errorf("%d bindings are left", moved.Len())
			}
		})
	}
}
