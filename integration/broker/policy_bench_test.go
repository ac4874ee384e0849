package broker

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"candlemark/policies"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// manyQueues is the number of queues in the benchmarks of policies.
const manyQueues = 10_000

// benchQueues returns a broker with manyQueues queues, and a channel of it.
func benchQueues(b *testing.B) (*supervision.Node, *amqp.Channel) {
	node, ch := benchBroker(b)
	for i := range manyQueues {
		if _, err := ch.QueueDeclare(fmt.Sprint("q", i), false, false, false, false, nil); err != nil {
			b.Fatal(err)
		}
	}
	return node, ch
}

func benchPolicy(b *testing.B, definition string) *policies.Policy {
	p, err := policies.Parse("/", "p", false, []byte(`{"pattern":"^q","apply-to":"queues","definition":`+definition+`}`))
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// flow counts the deliveries of ten queues that get 10,000 messages a second.
type flow struct {
	taken   atomic.Int64
	longest atomic.Int64 // longest time in ns without a delivery from a queue, since the last call of pause
}

// flows starts the consumers and the publisher.
func flows(b *testing.B, ch *amqp.Channel) *flow {
	const busy = 10
	f := &flow{}
	for i := range busy {
		deliveries, err := ch.Consume(fmt.Sprint("q", i*manyQueues/busy), "", true, false, false, false, nil)
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			var last time.Time
			for {
				if _, more := <-deliveries; !more {
					return
				}
				now := time.Now()
				if gap := int64(now.Sub(last)); !last.IsZero() {
					for was := f.longest.Load(); gap > was && !f.longest.CompareAndSwap(was, gap); was = f.longest.Load() {
					}
				}
				last = now
				f.taken.Add(1)
			}
		}()
	}
	stop, gone := make(chan struct{}), sync.WaitGroup{}
	gone.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		body := make([]byte, 100)
		for {
			select {
			case <-tick.C:
				for i := range busy {
					if ch.PublishWithContext(b.Context(), "", fmt.Sprint("q", i*manyQueues/busy), false, false, amqp.Publishing{Body: body}) != nil {
						return
					}
				}
			case <-stop:
				return
			}
		}
	})
	b.Cleanup(func() { close(stop); gone.Wait() })
	return f
}

// pause returns the longest time in ms without a delivery from a queue since the last call.
func (f *flow) pause() float64 { return float64(f.longest.Swap(0)) / 1e6 }

// processorTime returns the CPU time used by the process.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPolicyChange changes the policy of 10,000 queues while messages pass through some of them. It measures the time until
// the change is answered, the time until all queues have been queried and apply it, and the longest time without a delivery in
// the second before a change and in the second after its start.
func BenchmarkPolicyChange(b *testing.B) {
	node, ch := benchQueues(b)
	f := flows(b, ch)
	ttl := 60_000
	set := func() {
		ttl++
		p := benchPolicy(b, fmt.Sprintf(`{"message-ttl":%d,"expires":3600000,"max-length":100000}`, ttl))
		if _, err := node.API().SetPolicy(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
	second := func(begin func()) float64 {
		f.pause()
		end := time.After(time.Second)
		begin()
		<-end
		return f.pause()
	}
	var answered, felt, used time.Duration
	var before, during float64
	n, began, taken := 0, time.Now(), f.taken.Load()
	for b.Loop() {
		b.StopTimer()
		before = max(before, second(func() {}))
		during = max(during, second(set))
		n++
		b.StartTimer()
		at, cpu := time.Now(), processorTime()
		set()
		answered = max(answered, time.Since(at))
		obey(b, node, ttl)
		felt = max(felt, time.Since(at))
		used += processorTime() - cpu
	}
	b.ReportMetric(float64(answered.Microseconds())/1000, "ms-answered")
	b.ReportMetric(float64(felt.Microseconds())/1000, "ms-felt")
	b.ReportMetric(float64(used.Microseconds())/1000/float64(n), "cpu-ms")
	b.ReportMetric(before, "ms-pause-before")
	b.ReportMetric(during, "ms-pause")
	b.ReportMetric(float64(f.taken.Load()-taken)/time.Since(began).Seconds(), "msg/s")
}

// obey fails if a queue has another message-ttl.
func obey(b *testing.B, node *supervision.Node, ttl int) {
	all, err := node.API().Queues(b.Context(), "/")
	if err != nil || len(all) != manyQueues {
		b.Fatalf("%v, %d queues", err, len(all))
	}
	for i := range all {
		if v, _ := all[i].Effective.Definition.Get("message-ttl"); fmt.Sprint(v) != fmt.Sprint(ttl) || all[i].Lease.Period != 3_600_000 {
			b.Fatalf("%s has a message-ttl of %v, not %d", all[i].Name, v, ttl)
		}
	}
}

// BenchmarkPolicyPreview previews a policy that changes the deadlines of 100,000 messages in 10,000 queues: every queue is
// queried.
func BenchmarkPolicyPreview(b *testing.B) {
	const messages = 10
	node, ch := benchQueues(b)
	for i := range messages * manyQueues {
		if err := ch.PublishWithContext(b.Context(), "", fmt.Sprint("q", i%manyQueues), false, false, amqp.Publishing{Body: make([]byte, 100)}); err != nil {
			b.Fatal(err)
		}
	}
	p := benchPolicy(b, `{"message-ttl":3600000,"message-ttl-retroactive":true}`)
	var worst time.Duration
	n, cpu := 0, processorTime()
	for b.Loop() {
		at := time.Now()
		n++
		preview, _, err := node.API().PreviewPolicy(b.Context(), p, false)
		worst = max(worst, time.Since(at))
		if err != nil || preview.Queues != manyQueues || preview.Unanswered > 0 {
			b.Fatalf("%v: %+v", err, preview)
		}
		if n := preview.Messages.Retimed; n != messages*manyQueues {
			b.Logf("%d messages have come so far", n)
		}
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
	b.ReportMetric(float64((processorTime()-cpu).Microseconds())/1000/float64(n), "cpu-ms")
}
