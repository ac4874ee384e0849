package broker

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
)

// metricsOf returns the broker's metrics.
func metricsOf(b *testkit.Bubble) management.Metrics {
	b.Helper()
	m, err := b.Node.API().Metrics(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// expectSums checks that the totals equal the sums of the queues' own answers.
func expectSums(b *testkit.Bubble, when string) {
	b.Helper()
	queues, err := b.Node.API().Queues(context.Background(), "")
	if err != nil {
		b.Fatal(err)
	}
	var want queuestats.Sums
	for i := range queues {
		q := &queues[i]
		want[queuestats.Ready] += int64(q.Ready)
		want[queuestats.Unacked] += int64(q.Unacked)
		want[queuestats.ReadyBytes] += q.ReadyBytes
		want[queuestats.UnackedBytes] += q.UnackedBytes
		want[queuestats.Consumers] += int64(q.Consumers)
		want[queuestats.Paged] += int64(q.Paged)
		want[queuestats.PagedBytes] += q.PagedBytes
		want[queuestats.Scheduled] += int64(q.Scheduled.Count)
		if _, leased := q.Arguments.Get("x-expires"); leased {
			want[queuestats.Leased]++
		}
	}
	all := metricsOf(b).Queues
	got := all[0]
	for _, kind := range all[1:metrics.Holder] {
		got.Add(&kind)
	}
	for i := range queuestats.Enqueued {
		if got[i] != want[i] {
			b.Errorf("%s: number %d is %d, the queues say %d", when, i, got[i], want[i])
		}
	}
}

// The totals reported by queues follow everything that can happen to a message and to a queue.
func TestSumsOfAllQueues(t *testing.T) {
	f := &faults{}
	testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = f.check }, func(b *testkit.Bubble) {
		allowPanics(b)
		ch, other := b.Connect().Open(), b.Connect().Open()
		ch.Declare("plain", nil)
		durable(b, ch, "limited", amqp.Table{"x-queue-type": "quorum", "x-max-length": 3})
		ch.Declare("leased", amqp.Table{"x-expires": 60_000})
		ch.Declare("scheduled", nil)
		b.SetPolicy("s", `{"pattern":"^scheduled$","definition":{"delayed-messages":true}}`)
		expectSums(b, "nothing yet")
		for i := range 10 {
			for _, q := range []string{"plain", "limited", "leased"} {
				ch.Send("", q, persistent(fmt.Sprint("message ", i), ""))
			}
			ch.Send("", "scheduled", amqp.Publishing{Headers: amqp.Table{"x-delay": int32(1000 * (i + 1))}, Body: []byte("later")})
		}
		ch.Send("", "plain", testkit.Expiring("short", "500"))
		b.Advance(100 * ms)
		expectSums(b, "published")
		deliveries := other.Subscribe("plain", 4)
		b.Advance(ms)
		expectSums(b, "delivered")
		_ = testkit.Receive(b, deliveries).Ack(false)
		second := testkit.Receive(b, deliveries)
		_ = second.Nack(false, true)
		b.Advance(ms)
		expectSums(b, "settled")
		b.Advance(5 * time.Second)
		expectSums(b, "some were released, one has expired")
		if _, err := ch.QueuePurge("leased", false); err != nil {
			t.Fatal(err)
		}
		b.Advance(ms)
		expectSums(b, "purged")
		f.arm(supervision.KindQueue, "*mail.Purge")
		_, _ = b.Connect().Open().QueuePurge("plain", false)
		b.Advance(time.Second)
		expectSums(b, "a queue that is gone by a panic")
		f.arm(supervision.KindQueue, "*mail.Purge")
		_, _ = b.Connect().Open().QueuePurge("limited", false)
		b.Advance(time.Second)
		expectSums(b, "a queue that is back from the journal")
		b.Advance(2 * time.Minute)
		expectSums(b, "a lease has ended")
		b.Restart(time.Second)
		b.Advance(time.Second)
		expectSums(b, "restarted")
	})
}

// Totals query no queue, so that a scrape costs the same with any number of queues.
func TestTotalsAskNoQueue(t *testing.T) {
	var asked atomic.Int64
	count := func(_, _ *actor.PID, what any) {
		if _, is := what.(*mail.DescribeQueue); is {
			asked.Add(1)
		}
	}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Trace = count }, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		for i := range 20 {
			ch.Declare(fmt.Sprint("q", i), nil)
			ch.Send("", fmt.Sprint("q", i), testkit.Text("m"))
		}
		b.Advance(ms)
		asked.Store(0)
		o, err := b.Node.API().Overview(context.Background())
		if err != nil || o.Queues != 20 || o.Ready != 20 {
			t.Error(o, err)
		}
		if m := metricsOf(b); m.Ready != 20 || m.ByProtocol[management.AMQP091].Publishers != 1 {
			t.Error(m)
		}
		w := bubbleWeb(b)
		if answer := w.ask("", "GET", "/metrics", ""); answer.Code != 200 {
			t.Error(answer.Code)
		}
		if n := asked.Load(); n != 0 {
			t.Errorf("%d questions to queues", n)
		}
	})
}

// RabbitMQ's global counters, compared with the actions of a client.
func TestGlobalCounters(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Declare("copies", nil)
		ch.Bind("q", "", "amq.fanout")
		ch.Bind("copies", "", "amq.fanout")
		ch.Send("amq.fanout", "", testkit.Text(strings.Repeat("x", 200)))
		ch.Send("", "nowhere", testkit.Text("dropped"))
		b.Advance(ms)
		confirming := b.Connect().Open()
		confirming.Confirms()
		confirming.Publish("", "q", testkit.Text("m"))
		if d, ok, err := ch.Get("q", false); !ok || err != nil || d.Nack(false, true) != nil {
			t.Fatal(ok, err)
		}
		b.Advance(ms)
		expectDrained(b, ch, "copies", strings.Repeat("x", 200))
		_, _, _ = ch.Get("copies", true)
		_ = testkit.Receive(b, confirming.Subscribe("q", 1)).Ack(false)
		b.Advance(ms)
		m := metricsOf(b)
		q := m.Queues[metrics.Classic]
		for what, x := range map[string]struct{ got, want uint64 }{
			"published": {m.Counts.Publish, 3}, "dropped": {m.Counts.Dropped, 1}, "confirmed": {m.Counts.Confirm, 1},
			"to be confirmed": {m.ByProtocol[management.AMQP091].Published.Confirm, 1}, "routed": {m.ByProtocol[management.AMQP091].Published.Routed, 3}, "publishers": {uint64(m.ByProtocol[management.AMQP091].Publishers), 2},
			"got": {uint64(q[queuestats.Got]), 1}, "acknowledged": {uint64(q[queuestats.Acked]), 1}, "delivered again": {uint64(q[queuestats.Redelivered]), 1},
			"enqueued": {uint64(q[queuestats.Enqueued]), 3},
		} {
			if x.got != x.want {
				t.Errorf("%s: %d, want %d", what, x.got, x.want)
			}
		}
		if sizes := m.ByProtocol[management.AMQP091].Published.Sizes(); sizes.Counts[0] != 2 || sizes.Counts[1] != 1 || sizes.Sum != 208 {
			t.Errorf("%+v", sizes)
		}
		confirming.Close()
		ch.Close()
		b.Advance(ms)
		if after := metricsOf(b); after.Counts.Publish != 3 || after.ByProtocol[management.AMQP091].Published != m.ByProtocol[management.AMQP091].Published || after.ByProtocol[management.AMQP091].Publishers != 0 {
			t.Errorf("%+v", after)
		}
	})
}

// Lateness of expirations and releases is measured where they happen: in a bubble it is zero.
func TestLatenessIsMeasured(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Declare("strict", nil)
		b.SetPolicy("s", `{"pattern":"^strict$","definition":{"expiry-order":"strict"}}`)
		b.SetPolicy("d", `{"pattern":"^q$","definition":{"delayed-messages":true}}`)
		for i := range 50 {
			ch.Send("", "q", testkit.Expiring("m", fmt.Sprint(100+i%3)))
		}
		ch.Send("", "q", amqp.Publishing{Headers: amqp.Table{"x-delay": int32(1000)}})
		ch.Send("", "strict", testkit.Text("first"))
		ch.Send("", "strict", testkit.Expiring("m", "100"))
		b.Advance(5 * time.Second)
		m := metricsOf(b)
		if n := m.Expired.Counts[0] + m.Expired.Counts[1] + m.Expired.Counts[2] + m.Expired.Counts[3]; n != 50 || m.Expired.Count() != 50 {
			t.Errorf("expired: %+v", m.Expired)
		}
		if m.Released.Count() != 1 || m.Released.Sum > 0.001 {
			t.Errorf("released: %+v", m.Released)
		}
	})
}

// The API's port serves metrics only to users who may see objects of others.
func TestMetricsWantALogin(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		for name, tag := range map[string]string{"viewer": "management", "watcher": "monitoring"} {
			if _, err := b.Users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword(name), Tags: []string{tag}}); err != nil {
				t.Fatal(err)
			}
		}
		before := metricsOf(b).Logins.HTTP
		for _, path := range []string{"/metrics", "/metrics/per-object", "/metrics/detailed?family=queue_coarse_metrics"} {
			for as, want := range map[string]int{"": 200, "watcher:watcher": 200, "viewer:viewer": 401, "guest:wrong": 401} {
				if answer := w.ask(as, "GET", path, ""); answer.Code != want {
					t.Errorf("%s as %q: %d, want %d", path, as, answer.Code, want)
				}
			}
		}
		if now := metricsOf(b).Logins.HTTP; now.Succeeded != before.Succeeded+9 || now.Failed != before.Failed+3 {
			t.Errorf("%+v, then %+v", before, now)
		}
	})
}
