package queue

import (
	"testing"
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/clock"
	"candlemark/internal/message"
)

const benchBatch = 256

// run is a turn without the test's bookkeeping.
func (c *core) run(m any) {
	c.handle(m, c.now)
	commit, _ := c.handOver()
	c.flush()
	for _, p := range c.out.posts {
		if d, ok := p.what.(*mail.Deliver); ok {
			d.Release()
		}
	}
	c.out.posts, c.out.watch, c.out.again = c.out.posts[:0], nil, false
	for _, e := range c.out.done {
		e.Release()
	}
	c.out.done = c.out.done[:0]
	if commit != nil {
		c.run(appendDone{commit, nil})
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

var benchKey, benchHeader, benchBody = []byte("q"), make([]byte, 14), make([]byte, 100)

func fill(e *mail.Enqueue, ttl int64) *mail.Enqueue {
	for range benchBatch {
		e.Messages = append(e.Messages, message.Message{RoutingKey: benchKey, Header: benchHeader, Body: benchBody, TTL: ttl})
	}
	return e
}

// BenchmarkPass is a message from a publisher straight to a consumer without
// acknowledgements.
func BenchmarkPass(b *testing.B) {
	c := benchCore(noAck)
	for i := 0; i < b.N; i += benchBatch {
		c.run(fill(mail.NewEnqueue(publisher, queuePID), -1))
		c.run(&mail.Grant{Channel: ch1, Tag: "a", Messages: benchBatch, Bytes: 100 * benchBatch})
	}
}

// BenchmarkAck is a message kept, delivered and acknowledged.
func BenchmarkAck(b *testing.B) {
	c := benchCore(func(*mail.Consume) {})
	n := uint64(0)
	for i := 0; i < b.N; i += benchBatch {
		c.run(fill(mail.NewEnqueue(publisher, queuePID), -1))
		c.run(&mail.Grant{Channel: ch1, Tag: "a", Messages: benchBatch, Bytes: 100 * benchBatch})
		c.run(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: n + 1, Last: n + benchBatch}}})
		n += benchBatch
	}
}

// BenchmarkExpire is the end of a message among many that end within 2 s; its
// arrival is not counted.
func BenchmarkExpire(b *testing.B) {
	c := benchCore()
	for i := 0; i < b.N; i += benchBatch {
		c.run(fill(mail.NewEnqueue(publisher, queuePID), 60_000+int64(i*7919)%2000))
	}
	c.now += clock.Instant(time.Hour)
	b.ResetTimer()
	for c.messages.Len() > 0 {
		c.run(timerFired{})
	}
}

// BenchmarkPersist is a message that is written down, delivered and acknowledged.
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
			e.Messages[k].Persistent, e.Messages[k].Number = true, n+uint64(k)+1
		}
		c.run(e)
		c.run(&mail.Grant{Channel: ch1, Tag: "a", Messages: benchBatch, Bytes: 100 * benchBatch})
		c.run(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: n + 1, Last: n + benchBatch}}})
		n += benchBatch
	}
}
