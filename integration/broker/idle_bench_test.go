package broker

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// resting is the time in which idle objects may release memory that they do not need.
const resting = 10 * time.Second

// footprint is the live heap in bytes and objects, and the resident memory in bytes.
type footprint struct{ live, objects, resident float64 }

// measure collects garbage and measures the rest.
func measure(b *testing.B) footprint {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // frees what the first collection removed from pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("this system does not report resident memory")
	}
	pages, err := strconv.Atoi(string(bytes.Fields(statm)[1]))
	if err != nil {
		b.Fatal(err)
	}
	return footprint{float64(m.HeapAlloc), float64(m.HeapObjects), float64(pages * os.Getpagesize())}
}

// report reports the growth since before, for each of n.
func (f footprint) report(b *testing.B, before footprint, n int, what string) {
	b.ReportMetric((f.live-before.live)/float64(n), "B-live/"+what)
	b.ReportMetric((f.objects-before.objects)/float64(n), "objects/"+what)
	b.ReportMetric((f.resident-before.resident)/float64(n), "B-resident/"+what)
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdleQueues measures the memory of 100,000 queues with a lease: unused ones, and ones that had a message and a
// consumer. Run it with -benchtime 1x.
func BenchmarkIdleQueues(b *testing.B) {
	const queues = 100_000
	declare := func(b *testing.B, ch *amqp.Channel) {
		for i := range queues {
			_, err := ch.QueueDeclare(fmt.Sprint("q", i), false, false, false, i%1000 != 999, amqp.Table{"x-expires": int32(time.Hour.Milliseconds())})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		name string
		use  func(b *testing.B, ch *amqp.Channel)
	}{
		{"unused", func(*testing.B, *amqp.Channel) {}},
		{"used", use},
	} {
		b.Run(row.name, func(b *testing.B) {
			for range b.N {
				_, ch := benchBroker(b)
				before := measure(b)
				declare(b, ch)
				row.use(b, ch)
				<-time.After(resting)
				measure(b).report(b, before, queues, "queue")
			}
		})
	}
}

// use passes a message with a TTL through every queue, and lets another one expire.
func use(b *testing.B, ch *amqp.Channel) {
	const queues = 100_000
	for i := range queues {
		name := fmt.Sprint("q", i)
		for _, ttl := range []string{"600000", "1"} {
			if err := ch.PublishWithContext(b.Context(), "", name, false, false, amqp.Publishing{Body: make([]byte, 100), Expiration: ttl}); err != nil {
				b.Fatal(err)
			}
		}
		if _, _, err := ch.Get(name, true); err != nil {
			b.Fatal(err)
		}
	}
}
