package definitions

import (
	"fmt"
	"sync"
	"testing"

	"candlemark/internal/access/auth"
)

// BenchmarkDeclare declares queues one after the other from one client, or from many clients at a time, whose changes
// are committed in groups.
func BenchmarkDeclare(b *testing.B) {
	for _, clients := range []int{1, 100} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			f, err := Open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			if _, err := Wait(f, put(auth.VHost{Name: "/"})); err != nil {
				b.Fatal(err)
			}
			var wg sync.WaitGroup
			for c := range clients {
				wg.Go(func() {
					for i := c; i < b.N; i += clients {
						if _, err := Wait(f, put(Queue{VHost: "/", Name: fmt.Sprint("queue-", i), Type: "classic", Incarnation: uint64(i)})); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	const n = 10_000
	f, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	c := put(auth.VHost{Name: "/"})
	for i := range n {
		name := fmt.Sprint("queue-", i)
		c.Put = append(c.Put, Queue{VHost: "/", Name: name, Type: "classic", Incarnation: uint64(i), Arguments: everyType},
			Binding{VHost: "/", Source: "amq.topic", Destination: name, RoutingKey: name})
	}
	if _, err := Wait(f, c); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if d, err := f.Load(); err != nil || len(d.Queues) != n {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*n), "ns/definition")
}
