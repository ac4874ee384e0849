package topology

import (
	"fmt"
	"testing"

	"candlemark/protocol"
)

// many returns a table with n bindings to n queues.
func many(b *testing.B, kind string, n int) *BindingTable {
	b.Helper()
	r := newRoutes(b, kind)
	for i := range n {
		r, _ = r.With(oneOf(i))
	}
	return r
}

func oneOf(i int) (Binding, Target) {
	name := fmt.Sprint("queue-", i)
	return Binding{Destination: name, RoutingKey: fmt.Sprintf("device.%d.up", i), Arguments: table("device", int64(i))}, Target{Queue: &Queue{Name: name}}
}

// BenchmarkBind adds a binding to 100,000 others, and removes it.
func BenchmarkBind(b *testing.B) {
	for _, kind := range []string{"direct", "fanout", "topic", "headers"} {
		b.Run(kind, func(b *testing.B) {
			r := many(b, kind, 100_000)
			binding, to := oneOf(1_000_000)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				more, _ := r.With(binding, to)
				more.Without(binding)
			}
		})
	}
}

func BenchmarkDeclare(b *testing.B) {
	d := &Directory{}
	for i := range 100_000 {
		d = d.WithQueue(&Queue{Name: fmt.Sprint("queue-", i)})
	}
	q := &Queue{Name: "queue-1000000"}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		d.WithQueue(q).WithoutQueue(q.Name)
	}
}

// BenchmarkRoute routes to one queue, or to three for fanout, with few and with many bindings.
func BenchmarkRoute(b *testing.B) {
	for _, n := range []int{3, 100_000} {
		for _, kind := range []string{"direct", "topic", "headers"} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				x := &Exchange{Name: "x"}
				x.Publish(many(b, kind, n))
				benchmarkRoute(b, &Directory{}, x, "device.1.up")
			})
		}
	}
	b.Run("topic/wildcards", func(b *testing.B) {
		x := &Exchange{Name: "x"}
		r := newRoutes(b, "topic")
		for i, key := range []string{"device.*.up", "device.1.#", "#.up", "*.*.down", "#"} {
			name := fmt.Sprint("q", i)
			r, _ = r.With(Binding{Destination: name, RoutingKey: key}, Target{Queue: &Queue{Name: name}})
		}
		x.Publish(r)
		benchmarkRoute(b, &Directory{}, x, "device.1.up")
	})
	for _, n := range []int{1, 3, 1000} {
		b.Run(fmt.Sprintf("fanout/%d", n), func(b *testing.B) {
			x := &Exchange{Name: "x"}
			x.Publish(many(b, "fanout", n))
			benchmarkRoute(b, &Directory{}, x, "")
		})
	}
	for _, n := range []int{3, 100_000} {
		b.Run(fmt.Sprintf("default/%d", n), func(b *testing.B) {
			d := &Directory{}
			for i := range n {
				d = d.WithQueue(&Queue{Name: fmt.Sprint("queue-", i)})
			}
			benchmarkRoute(b, d, &Exchange{}, "queue-1")
		})
	}
}

// BenchmarkSharedCondition finds one of 100,000 bindings to a headers exchange that share a condition.
func BenchmarkSharedCondition(b *testing.B) {
	r := newRoutes(b, "headers")
	for i := range 100_000 {
		name := fmt.Sprint("queue-", i)
		r, _ = r.With(Binding{Destination: name, Arguments: table("device", int64(1), "other", name)}, Target{Queue: &Queue{Name: name}})
	}
	r, _ = r.With(Binding{Destination: "q", Arguments: table("device", int64(1), "other", "text")}, Target{Queue: &Queue{Name: "q"}})
	x := &Exchange{Name: "x"}
	x.Publish(r)
	router := Router{work: work{pause: func() bool { return true }}}
	sent := table("device", int64(1), "other", "text")
	for b.Loop() {
		if len(router.Route(&Directory{}, x, nil, func() protocol.Table { return sent })) != 1 {
			b.Fatal("not one queue")
		}
	}
}

func benchmarkRoute(b *testing.B, d *Directory, x *Exchange, key string) {
	var r Router
	sent := table("device", int64(1), "other", "text")
	k, decode := []byte(key), func() protocol.Table { return sent }
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		if len(r.Route(d, x, k, decode)) == 0 {
			b.Fatal("no queue")
		}
	}
}

// BenchmarkConsistentHash finds one of 100 queues.
func BenchmarkConsistentHash(b *testing.B) {
	x := newPicking(ConsistentHashType, nil)
	for i := range 100 {
		x.bind(fmt.Sprint("q", i), "10")
	}
	key := []byte("customer-4711")
	for b.Loop() {
		x.router.Route(x.dir, x.Exchange, key, nil)
	}
}
