package amqp10

import (
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/protocol"

	"github.com/Azure/go-amqp"
)

// Messages that clients of Azure Service Bus have scheduled in a queue or for a topic are cancelled and rescheduled by their ids, application
// properties and due times (DLY-17).
func TestFilterOfEntities_DLY17(t *testing.T) {
	for name, at := range map[string]management.Place{"queue": {VHost: "/", Name: "q"}, "topic": {VHost: "/", Name: "t", Exchange: true}} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *testkit.Bubble, c *client) {
				from := "q"
				if at.Exchange {
					topicWith(b, "t", "s")
					from = "t/Subscriptions/s"
				} else {
					entity(b)
				}
				n, begin := c.node(at.Name), time.Now()
				var entries []any
				for i, id := range []string{"a", "b", "c", "d", "e"} {
					due := begin.Add(time.Duration(i+1) * time.Hour)
					m := amqp.NewMessage([]byte(id))
					m.Properties = &amqp.MessageProperties{MessageID: id, CorrelationID: uint64(i % 2)}
					m.ApplicationProperties = map[string]any{"tenant": "t", "n": int32(i)}
					m.Annotations = amqp.Annotations{"x-opt-scheduled-enqueue-time": due}
					encoded, err := m.MarshalBinary()
					if err != nil {
						t.Fatal(err)
					}
					entries = append(entries, map[string]any{"message-id": id, "message": encoded})
				}
				if code, numbers := n.schedule(entries...); code != 200 || len(numbers) != 5 {
					t.Fatal(code, numbers)
				}
				change := func(f management.ScheduledFilter, to *management.When, want int) {
					t.Helper()
					by := management.Asker{User: auth.User{Name: "guest", Tags: []string{"administrator"}}}
					f.Look = true
					for range 2 {
						if swept, err := b.Node.API().ChangeScheduled(b.Context(), by, at, f, to); err != nil || swept.Count != want {
							t.Errorf("%+v: %d, %v, want %d", f, swept.Count, err, want)
						}
						f.Look = false
					}
				}
				change(management.ScheduledFilter{CorrelationID: "1", Headers: protocol.Table{{Key: "tenant", Value: "t"}}, DueBefore: begin.Add(3 * time.Hour).UnixMilli()}, nil, 1) // b
				change(management.ScheduledFilter{Headers: protocol.Table{{Key: "n", Value: int64(2)}}}, nil, 1)                                                                      // c
				change(management.ScheduledFilter{MessageID: "d", DueFrom: 1}, &management.When{MS: 60_000, Relative: true}, 1)
				r := c.receiver(from, second(10))
				b.Advance(time.Minute)
				c.want(r, "d")
				change(management.ScheduledFilter{DueFrom: begin.Add(5 * time.Hour).UnixMilli()}, &management.When{MS: 60_000, Relative: true}, 1) // e
				b.Advance(time.Minute)
				c.want(r, "e")
				b.Advance(time.Until(begin.Add(time.Hour)))
				c.want(r, "a")
				if left, err := b.Node.API().ScheduledCounts(b.Context(), management.Asker{User: auth.User{Name: "guest", Tags: []string{"administrator"}}}, at); err != nil || left.Count != 0 {
					t.Errorf("%+v, %v", left, err)
				}
			})
		})
	}
}
