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

// resting is how long what is measured may take to give back what it does not need.
const resting = 10 * time.Second

// footprint has the bytes that live on the heap of the process, how many objects these are, and the resident bytes.
type footprint struct{ live, objects, resident float64 }

// measure gives back what is garbage, and counts the rest.
func measure(b *testing.B) footprint {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // what a first collection took out of pools
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

// report returns what came on top of before, of each of n.
func (f footprint) report(b *testing.B, before footprint, n int, what string) {
	b.ReportMetric((f.live-before.live)/float64(n), "B-live/"+what)
	b.ReportMetric((f.objects-before.objects)/float64(n), "objects/"+what)
	b.ReportMetric((f.resident-before.resident)/float64(n), "B-resident/"+what)
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdleQueues is the memory of 100,000 queues with a lease: of those that nobody has used, and of those that had a message,
// and a consumer that left. Run it with -benchtime 1x.
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

// use has a message with a TTL go through every queue, and another one expire.
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
