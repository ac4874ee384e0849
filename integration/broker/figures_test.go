package broker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"

	amqp "github.com/rabbitmq/amqp091-go"
)

// reportedFigures returns the statistics that a queue should have reported, given its description.
func reportedFigures(q *management.Queue) map[int]int64 {
	received := map[int]int64{
		queuestats.Running: 1, queuestats.Ready: int64(q.Ready), queuestats.Unacked: int64(q.Unacked), queuestats.ReadyBytes: q.ReadyBytes, queuestats.UnackedBytes: q.UnackedBytes,
		queuestats.Persistent: int64(q.Persistent), queuestats.PersistentBytes: q.PersistentBytes, queuestats.Memory: q.Memory, queuestats.Scheduled: int64(q.Scheduled.Count),
		queuestats.Expiring: int64(q.Expiring.Count), queuestats.Consumers: int64(q.Consumers), queuestats.LeaseEnds: q.Lease.Ends, queuestats.OldestReady: q.OldestReady.Since,
	}
	if q.State == "down" {
		received[queuestats.Running] = 0
	}
	return received
}

// expectFigures checks that the statistics used by lists equal the queues' own answers. The statistics are read first, because a
// queue that is queried reports them again.
func expectFigures(b *testkit.Bubble, when string) {
	b.Helper()
	names := b.Node.API().QueueNames("")
	type copied struct {
		values         map[int]int64
		user, operator string
	}
	before := make([]copied, len(names))
	for i, n := range names {
		before[i].values = map[int]int64{}
		for which := range reportedFigures(&management.Queue{}) {
			before[i].values[which] = n.Get(which)
		}
		before[i].user, before[i].operator = n.Policies()
	}
	queues, err := b.Node.API().Queues(context.Background(), "")
	if err != nil || len(queues) != len(names) {
		b.Fatal(len(queues), len(names), err)
	}
	for i := range queues {
		q := &queues[i]
		for which, want := range reportedFigures(q) {
			if got := before[i].values[which]; got != want {
				b.Errorf("%s: figure %d of queue %s is %d, it says %d", when, which, q.Name, got, want)
			}
		}
		if before[i].user != q.Effective.Policy || before[i].operator != q.Effective.OperatorPolicy || names[i].Type != q.Type || names[i].Durable != q.Durable {
			b.Errorf("%s: %+v has %+v, it says %+v", when, names[i], before[i], q)
		}
	}
}

// workload performs random operations on queues.
type workload struct {
	*testkit.Bubble
	*rand.Rand
	ch   *testkit.Channel
	held []amqp.Delivery
}

func (w *workload) any() string { return fmt.Sprint("q", w.IntN(12)) }

func (w *workload) declare() {
	for i := range 12 {
		args := amqp.Table{}
		for key, value := range map[string]any{"x-expires": int32(3_600_000), "x-message-ttl": int32(20_000), "x-max-length": int32(20), "x-delayed-messages": true, "x-max-priority": int32(5)} {
			if w.IntN(3) == 0 {
				args[key] = value
			}
		}
		if i%3 == 0 {
			args = amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(1)}
		}
		if _, err := w.ch.QueueDeclare(fmt.Sprint("q", i), i%2 == 0 || i%3 == 0, false, false, false, args); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *workload) step() {
	switch name := w.any(); w.IntN(9) {
	case 0, 1, 2:
		for range w.IntN(30) {
			m := amqp.Publishing{Body: make([]byte, w.IntN(400)), DeliveryMode: uint8(1 + w.IntN(2)), Priority: uint8(w.IntN(6))}
			if w.IntN(3) == 0 {
				m.Expiration = fmt.Sprint(1 + w.IntN(30_000))
			}
			if w.IntN(4) == 0 {
				m.Headers = amqp.Table{"x-delay": int32(w.IntN(30_000))}
			}
			w.ch.Send("", name, m)
		}
	case 3, 4:
		for range w.IntN(10) {
			auto := w.IntN(3) == 0
			if d, ok, err := w.ch.Get(name, auto); err == nil && ok && !auto {
				w.held = append(w.held, d)
			}
		}
	case 5, 6:
		for _, d := range w.held {
			var err error
			switch w.IntN(4) {
			case 0:
				err = d.Nack(false, true)
			case 1:
				err = d.Reject(false)
			case 2:
				err = d.Ack(false)
			default:
				continue
			}
			if err == amqp.ErrClosed {
				w.Fatal(err)
			}
		}
		w.held = nil
	case 7:
		if _, err := w.ch.QueuePurge(name, false); err != nil {
			w.Fatal(err)
		}
	case 8:
		w.Advance(time.Duration(w.IntN(10_000)) * time.Millisecond)
	}
}

// The statistics by which lists sort and filter equal the queues' own answers: under load, at rest (ADR 59), after changes of
// policies, and after a restart.
func TestFiguresAreTheQueues(t *testing.T) {
	for seed := range uint64(6) {
		testkit.RunStored(t, nil, func(b *testkit.Bubble) {
			w := &workload{Bubble: b, Rand: rand.New(rand.NewPCG(seed, 0)), ch: b.Connect().Open()}
			w.declare()
			expectFigures(b, "declared")
			for i := range 60 {
				w.step()
				if i%10 == 0 {
					b.Advance(0)
					expectFigures(b, fmt.Sprint("step ", i))
				}
			}
			tags := b.Connect().Open()
			tags.Subscribe("q1", 3)
			tags.Subscribe("q2", 0)
			b.SetPolicy("p", `{"pattern":"^q[1-5]$","definition":{"max-length":5,"expires":500000}}`)
			setOperatorPolicy(b, "/", "o", `{"pattern":"^q1","definition":{"max-length":3}}`)
			b.Advance(0)
			expectFigures(b, "with policies")
			b.Advance(10 * time.Second)
			expectFigures(b, "at rest")
			b.ClearPolicy("p")
			b.Advance(0)
			expectFigures(b, "without one")
			b.Restart(time.Second)
			b.Advance(0)
			expectFigures(b, "after a restart")
			b.Crash(time.Second)
			b.Advance(time.Minute)
			expectFigures(b, "after a crash")
		})
	}
}

// A page is the same whether its queues were selected by the answers of all queues or by their statistics; in the second case
// only the queues of the page are queried.
func TestPagesByFigures(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := &workload{Bubble: b, Rand: rand.New(rand.NewPCG(1, 2)), ch: b.Connect().Open()}
		w.declare()
		for range 80 {
			w.step()
		}
		b.SetPolicy("p", `{"pattern":"^q[1-5]$","definition":{"max-length":50}}`)
		b.Advance(20 * time.Second)
		web := bubbleWeb(b)
		type row struct {
			VHost, Name string
			Messages    int
		}
		type page struct {
			Items []row
			Count int `json:"filtered_count"`
		}
		for _, sort := range []string{
			"messages", "messages_ready", "messages_unacknowledged", "message_bytes", "message_bytes_ready", "message_bytes_persistent", "messages_persistent",
			"messages_scheduled", "messages_expiring", "memory", "consumers", "type", "policy", "operator_policy", "durable", "state", "lease_expires_at", "oldest_ready_at", "oldest_ready_age", "name",
		} {
			for _, reverse := range []string{"", "&sort_reverse=true"} {
				all := get[[]row](web, "/api/queues?sort="+sort+reverse) // queries all queues
				var got []row
				for n := 1; len(got) < len(all); n++ {
					p := get[page](web, fmt.Sprintf("/api/queues?page=%d&page_size=5&sort=%s%s", n, sort, reverse))
					got = append(got, p.Items...)
				}
				if !slices.Equal(got, all) {
					t.Errorf("%s%s:\n%v, all:\n%v", sort, reverse, got, all)
				}
			}
		}
		for query, want := range map[string]func(*management.Queue) bool{
			"type=quorum":                   func(q *management.Queue) bool { return q.Type == "quorum" },
			"policy=p":                      func(q *management.Queue) bool { return q.Effective.Policy == "p" },
			"policy=":                       func(q *management.Queue) bool { return q.Effective.Policy == "" },
			"lease_ends_within=999999999":   func(q *management.Queue) bool { return q.Lease.Ends != 0 },
			"expires_within=999999999":      func(q *management.Queue) bool { return q.Expiring.Next != 0 },
			"scheduled_within=999999999":    func(q *management.Queue) bool { return q.Scheduled.NextDue != 0 },
			"oldest_over=0":                 func(q *management.Queue) bool { return q.OldestReady.Age > 0 },
			"unacked_longer_than=0":         func(q *management.Queue) bool { return q.Unacked > 0 },
			"type=classic&expires_within=1": func(*management.Queue) bool { return false },
		} {
			queues, err := b.Node.API().Queues(context.Background(), "")
			if err != nil {
				t.Fatal(err)
			}
			queues = slices.DeleteFunc(queues, func(q management.Queue) bool { return !want(&q) })
			if p := get[page](web, "/api/queues?page=1&"+query); len(p.Items) != len(queues) || p.Count != len(queues) {
				t.Errorf("%s: %v, want %d", query, p, len(queues))
			}
		}
	})
}
