package broker

import (
	"fmt"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	"github.com/rs/zerolog"
)

// BenchmarkStart is how long a broker with 20,000 empty durable queues takes to start, as a new leader does.
func BenchmarkStart(b *testing.B) {
	meta, journal := definitions.NewMemory(), memory.New(memory.Options{})
	b.Cleanup(func() { _ = journal.Close() })
	start := func() *supervision.Node {
		node, err := supervision.Start(supervision.Config{Users: auth.NewGuest(), Meta: meta, Journal: journal, Log: zerolog.Nop(), Limits: supervision.Limits{NoHeartbeat: true}})
		if err != nil {
			b.Fatal(err)
		}
		return node
	}
	node := start() // makes the virtual host
	var queues []any
	for i := range 20_000 {
		queues = append(queues, definitions.Queue{VHost: "/", Name: fmt.Sprint("q", i), Type: "classic", Incarnation: uint64(1000 + i)})
	}
	if _, err := definitions.Wait(meta, definitions.Change{Put: queues}); err != nil {
		b.Fatal(err)
	}
	_ = node.Stop(b.Context())
	var used time.Duration
	for b.Loop() {
		before := processorTime()
		node := start()
		used += processorTime() - before
		b.StopTimer()
		_ = node.Stop(b.Context())
		b.StartTimer()
	}
	b.ReportMetric(float64(used.Milliseconds())/float64(b.N), "cpu-ms/op")
}
