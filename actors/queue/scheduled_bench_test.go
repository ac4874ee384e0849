package queue

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/protocol"
)

const (
	benchScheduled = 5_000_000
	benchHour      = 3_600_000
)

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// recoveredScheduled returns a queue recovered with n scheduled messages, due at random times within an hour. Their contents are
// in the journal.
func recoveredScheduled(n int) *core {
	list := make([]store.Recovered, n)
	for i := range list {
		list[i] = store.Recovered{
			Seq: uint64(i + 1), At: store.Position(i + 1), Deadline: store.Never, TTL: -1, Time: start, Body: 100,
			Due: start + 1 + rand.Int64N(benchHour), MessageID: store.HashID(fmt.Sprint(i)),
		}
	}
	cfg := testConfig(settings(delaying))
	cfg.Queue.Durable, cfg.Recovered = true, list
	c := newCoreOf(nil, cfg)
	cfg.Recovered = nil
	return c
}

// BenchmarkScheduledRecovery measures a restart with five million messages, after the journal was read.
func BenchmarkScheduledRecovery(b *testing.B) {
	for b.Loop() {
		before := heap()
		began := time.Now()
		c := recoveredScheduled(benchScheduled)
		b.ReportMetric(time.Since(began).Seconds(), "s")
		b.ReportMetric(float64(heap()-before)/benchScheduled, "B/message")
		runtime.KeepAlive(c)
	}
}

// BenchmarkScheduled queries and changes a queue with five million scheduled messages.
func BenchmarkScheduled(b *testing.B) {
	c := recoveredScheduled(benchScheduled)
	ask := mail.Request{ReplyTo: ch1}
	b.Run("describe", func(b *testing.B) { // count, bytes, next due, histogram
		for b.Loop() {
			c.run(&mail.DescribeQueue{Request: ask})
		}
	})
	b.Run("page", func(b *testing.B) { // only the queue's turn; the journal also reads 1000 contents
		for b.Loop() {
			c.run(&mail.ListScheduled{Request: ask, After: mail.Cursor{Due: start + rand.Int64N(benchHour)}})
			if len(c.out.lookups.List) != 1 {
				b.Fatal("no page")
			}
			c.out.lookups.List = nil
		}
	})
	b.Run("reschedule", func(b *testing.B) {
		for b.Loop() {
			c.run(&mail.ChangeScheduled{Request: ask, Seq: 1 + rand.Uint64N(benchScheduled), Due: start + 1 + rand.Int64N(benchHour)})
		}
	})
	b.Run("cancel", func(b *testing.B) {
		for b.Loop() {
			c.run(&mail.ChangeScheduled{Cancel: true, Request: ask, Seq: 1 + rand.Uint64N(benchScheduled)})
		}
	})
	b.Run("find by message-id", func(b *testing.B) {
		for b.Loop() {
			c.run(&mail.ChangeScheduled{Cancel: true, Request: ask, MessageID: fmt.Sprint(rand.IntN(benchScheduled))})
			c.out.lookups.List = nil
		}
	})
	b.Run("release", func(b *testing.B) {
		left := c.Scheduled.Len()
		for b.Loop() {
			c.now += clock.Instant(time.Millisecond)
			c.run(timerFired{})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(left-c.Scheduled.Len()), "ns/message")
	})
}

// BenchmarkPostpone schedules a million messages of 100 B with contents in memory.
func BenchmarkPostpone(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		c := newCoreOf(nil, testConfig(settings(delaying)))
		before := heap()
		began := time.Now()
		for i := 0; i < n; i += benchBatch {
			e := mail.NewEnqueue(publisher, queuePID)
			for k := range benchBatch {
				header := protocol.Properties{
					Flags:   protocol.FlagHeaders | protocol.FlagMessageID,
					Headers: protocol.Table{{Key: "x-delay", Value: 1 + rand.Int64N(benchHour)}}, MessageID: fmt.Sprint(i + k),
				}.Append(nil)
				e.Messages = append(e.Messages, message.Message{RoutingKey: benchKey, Header: header, Body: benchBody, TTL: -1})
			}
			c.run(e)
		}
		b.ReportMetric(float64(time.Since(began).Nanoseconds())/n, "ns/message")
		b.ReportMetric(float64(heap()-before)/n, "B/message")
		runtime.KeepAlive(c)
	}
}
