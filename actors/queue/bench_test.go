package queue

import (
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

const benchBatch = 256

// run runs a turn without the test's bookkeeping.
func (c *core) run(m any) {
	c.handle(m, c.now)
	_, commit := c.Journal.HandOver()
	c.flush()
	for _, p := range c.out.Posts {
		if d, ok := p.Mail.(*mail.Deliver); ok {
			d.Release()
		}
	}
	c.out.Posts, c.out.watch, c.out.again = c.out.Posts[:0], nil, false
	for _, e := range c.out.done {
		e.Release()
	}
	c.out.done = c.out.done[:0]
	if commit != nil {
		c.run(appendDone{commit: commit, err: nil})
	}
}

func benchCore(change ...func(*mail.Consume)) *core {
	c := newCoreOf(nil, testConfig(settings()))
	if len(change) > 0 {
		m := &mail.Consume{Channel: ch1, Tag: "a"}
		for _, f := range change {
			f(m)
		}
		c.run(m)
	}
	return c
}

var (
	benchKey, benchBody = []byte("q"), make([]byte, 100)
	benchHeader         = (&protocol.Properties{Flags: protocol.FlagContentType, ContentType: "text/plain"}).Append(nil)
)

func fill(e *mail.Enqueue, ttl int64) *mail.Enqueue {
	for range benchBatch {
		e.Messages = append(e.Messages, message.Message{RoutingKey: benchKey, Header: benchHeader, Body: benchBody, TTL: ttl})
	}
	return e
}

// BenchmarkPass passes messages from a publisher straight to a consumer without acknowledgements.
func BenchmarkPass(b *testing.B) {
	c := benchCore(noAck)
	for i := 0; i < b.N; i += benchBatch {
		c.run(fill(mail.NewEnqueue(publisher, queuePID), -1))
		c.run(&mail.ReturnWindow{Channel: ch1, Tag: "a", Messages: benchBatch, Bytes: 100 * benchBatch})
	}
}

// BenchmarkAck keeps, delivers and acknowledges messages.
func BenchmarkAck(b *testing.B) {
	c := benchCore(func(*mail.Consume) {})
	n := uint64(0)
	for i := 0; i < b.N; i += benchBatch {
		c.run(fill(mail.NewEnqueue(publisher, queuePID), -1))
		c.run(&mail.ReturnWindow{Channel: ch1, Tag: "a", Messages: benchBatch, Bytes: 100 * benchBatch})
		c.run(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: n + 1, Last: n + benchBatch}}})
		n += benchBatch
	}
}

// BenchmarkExpire measures the expiry of messages that expire within 2 s; their arrival is not counted.
func BenchmarkExpire(b *testing.B) {
	c := benchCore()
	for i := 0; i < b.N; i += benchBatch {
		c.run(fill(mail.NewEnqueue(publisher, queuePID), 60_000+int64(i*7919)%2000))
	}
	c.now += clock.Instant(time.Hour)
	b.ResetTimer()
	for c.Backlog.Len() > 0 {
		c.run(timerFired{})
	}
}

// BenchmarkKeep measures keeping a message among up to 100,000 others: without a TTL, with the same TTL for all, or with TTLs of
// up to one hour. Their expiry is not counted.
func BenchmarkKeep(b *testing.B) {
	for _, set := range []struct {
		name string
		ttl  func(i int) int64
	}{
		{"no_ttl", func(int) int64 { return -1 }},
		{"equal_ttl", func(int) int64 { return 60_000 }},
		{"random_1h", func(i int) int64 { return int64(i) * 7919 % 3_600_000 }},
	} {
		b.Run(set.name, func(b *testing.B) {
			c := benchCore()
			b.ReportAllocs()
			for i := 0; i < b.N; i += benchBatch {
				if c.Backlog.Len() > 100_000 {
					b.StopTimer()
					c.run(&mail.Purge{})
					for c.pending.Work() != nil {
						c.run(again{})
					}
					b.StartTimer()
				}
				e := mail.NewEnqueue(publisher, queuePID)
				for k := range benchBatch {
					e.Messages = append(e.Messages, message.Message{RoutingKey: benchKey, Header: benchHeader, Body: benchBody, TTL: set.ttl(i + k)})
				}
				c.now += clock.Instant(time.Millisecond)
				c.run(e)
			}
		})
	}
}

// BenchmarkDeadLetter measures a message that expires, is sent to the dead-letter actor and answered; its arrival is not counted.
func BenchmarkDeadLetter(b *testing.B) {
	c := newCoreOf(nil, testConfig(settings(dlx)))
	b.ReportAllocs()
	for done := 0; done < b.N; {
		b.StopTimer()
		from := done
		for ; done < min(b.N, from+10_000); done += benchBatch {
			c.run(fill(mail.NewEnqueue(publisher, queuePID), 1000))
		}
		c.now += clock.Instant(2 * time.Second)
		b.StartTimer()
		for c.Backlog.Len() > 0 {
			c.handle(timerFired{}, c.now)
			c.flush()
			c.out.again = false
			for posts := c.out.Posts; len(posts) > 0; posts = c.out.Posts {
				c.out.Posts = nil
				for _, p := range posts {
					if d, ok := p.Mail.(*mail.DeadLetter); ok {
						r := &mail.DeadLetterReply{Incarnation: d.Incarnation}
						for i := range d.Messages {
							r.Add(d.Messages[i].Number)
						}
						(&mail.Enqueue{Messages: d.Messages}).Release()
						c.handle(r, c.now)
					}
				}
			}
		}
	}
}

// BenchmarkPersist stores, delivers and acknowledges persistent messages.
func BenchmarkPersist(b *testing.B) {
	cfg := testConfig(settings())
	cfg.Queue.Durable = true
	c := newCoreOf(nil, cfg)
	c.run(&mail.Consume{Channel: ch1, Tag: "a"})
	n := uint64(0)
	b.ReportAllocs()
	for i := 0; i < b.N; i += benchBatch {
		e := fill(mail.NewEnqueue(publisher, queuePID), -1)
		for k := range e.Messages {
			e.Messages[k].Header, e.Messages[k].Number = []byte{0x10, 0, 2}, n+uint64(k)+1
		}
		c.run(e)
		c.run(&mail.ReturnWindow{Channel: ch1, Tag: "a", Messages: benchBatch, Bytes: 100 * benchBatch})
		c.run(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: n + 1, Last: n + benchBatch}}})
		n += benchBatch
	}
}

// BenchmarkReport measures the update of the sums of all queues per turn, which does not depend on the number of messages.
func BenchmarkReport(b *testing.B) {
	var sums metrics.Queues
	cfg := testConfig(settings())
	cfg.Metrics = &sums
	c := newCoreOf(nil, cfg)
	q := &queue{awake: &awake{state: c.state}}
	b.ReportAllocs()
	for b.Loop() {
		q.state.messages.Counts.Publish++
		q.state.messages.Counts.Deliver++
		q.state.messages.Counts.Ack++
		q.publishFigures().recycle()
	}
}
