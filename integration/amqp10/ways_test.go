package amqp10

import (
	"context"
	"reflect"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// whole returns a message that cannot be represented in 0-9-1.
func whole(id string) *amqp.Message {
	subject, to := "s", "t"
	return &amqp.Message{
		Properties: &amqp.MessageProperties{MessageID: id, Subject: &subject, To: &to, CorrelationID: uint64(9)}, Value: map[string]any{"a": uint8(1)},
		ApplicationProperties: map[string]any{"n": uint64(7), "t": time.UnixMilli(1_700_000_000_123).UTC()}, Annotations: amqp.Annotations{"x-opt-mine": uint32(5)},
		Footer: amqp.Annotations{"x-opt-sum": "f"},
	}
}

// sameAs fails the test unless a message equals whole's message, delivered in any way.
func (c *client) sameAs(m *amqp.Message, way string) {
	c.Helper()
	if m == nil {
		c.Error(way, "has no message")
		return
	}
	want := whole(way)
	if stamp, is := m.ApplicationProperties["t"].(time.Time); is {
		m.ApplicationProperties["t"] = stamp.UTC()
	}
	for key := range m.ApplicationProperties {
		if want.ApplicationProperties[key] == nil && key != "DeadLetterReason" && key != "DeadLetterErrorDescription" {
			c.Errorf("%s: %s was added", way, key)
		}
	}
	for key, value := range want.ApplicationProperties {
		if !reflect.DeepEqual(m.ApplicationProperties[key], value) {
			c.Errorf("%s: %s is %T %v", way, key, m.ApplicationProperties[key], m.ApplicationProperties[key])
		}
	}
	if !reflect.DeepEqual(m.Properties, want.Properties) || !reflect.DeepEqual(m.Value, want.Value) || m.Data != nil || m.Annotations["x-opt-mine"] != uint32(5) || m.Footer["x-opt-sum"] != "f" {
		c.Errorf("%s: %+v, %+v", way, m, m.Properties)
	}
}

// travels sends and settles messages of whole.
type travels struct{ *client }

func (c travels) sends(to, way string, change func(m *amqp.Message)) {
	c.Helper()
	m := whole(way)
	if change != nil {
		change(m)
	}
	if got := stateOf(c.send(c.sender(to, nil), m)); got != "accepted" {
		c.Fatal(way, got)
	}
}

// settles settles the next message of q, and returns its number.
func (c travels) settles(settle func(r *amqp.Receiver, m *amqp.Message) error) (number int64) {
	c.Helper()
	r := c.receiver("q", second(-1))
	if err := r.IssueCredit(1); err != nil {
		c.Fatal(err)
	}
	m := c.next(r)
	if m == nil {
		c.Fatal("nothing to settle")
	}
	if err := settle(r, m); err != nil {
		c.Fatal(err)
	}
	if err := r.Close(context.Background()); err != nil {
		c.Fatal(err)
	}
	number, _ = m.Annotations["x-opt-sequence-number"].(int64)
	return number
}

func (c travels) schedules(entity, way string, at time.Time) {
	c.Helper()
	m := whole(way)
	m.Annotations["x-opt-scheduled-enqueue-time"] = at
	encoded, err := m.MarshalBinary()
	if err != nil {
		c.Fatal(err)
	}
	if code, numbers := c.node(entity).schedule(map[string]any{"message-id": way, "message": encoded}); code != 200 || len(numbers) != 1 {
		c.Fatal(way, code)
	}
}

// forwarding declares a queue that forwards to q.
func forwarding(b *testkit.Bubble) {
	b.Helper()
	ch := b.Connect().Open()
	err := ch.ExchangeDeclare("q/$Forward", "fanout", true, false, false, false, nil)
	if err == nil {
		err = ch.QueueBind("q", "", "q/$Forward", false, nil)
	}
	if err == nil {
		_, err = ch.QueueDeclare("forwards", true, false, false, false, amqp091.Table{"x-queue-type": "quorum", "x-forward-to": "q/$Forward"})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// A message stays as it was sent, with its types, in every way of delivery: scheduled, deferred, dead-lettered,
// expired, forwarded, by a topic, and after a restart.
func TestEntity_AsSent_OnAllWays(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		entity(b)
		topicWith(b, "events", "s")
		forwarding(b)
		c := travels{connect(b, nil)}
		ctx, at := context.Background(), time.Now().Add(time.Hour)
		c.sends("q", "deferred", nil)
		number := c.settles(func(r *amqp.Receiver, m *amqp.Message) error {
			return r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{UndeliverableHere: true})
		})
		c.sends("q", "rejected", nil)
		c.settles(func(r *amqp.Receiver, m *amqp.Message) error { return r.RejectMessage(ctx, m, nil) })
		c.sends("q", "expired", func(m *amqp.Message) { m.Header = &amqp.MessageHeader{TTL: time.Millisecond} })
		b.Advance(time.Second)
		c.sends("q", "scheduled", func(m *amqp.Message) { m.Annotations["x-opt-scheduled-enqueue-time"] = at })
		c.schedules("q", "scheduled by operation", at)
		c.schedules("events", "scheduled to a topic", at)
		c.sends("events", "by a topic", nil)
		c.sends("q", "abandoned", nil)
		c.settles(func(r *amqp.Receiver, m *amqp.Message) error { return r.ModifyMessage(ctx, m, nil) })
		c.sends("forwards", "forwarded", nil)
		b.Restart(time.Second)
		b.Advance(time.Until(at) + time.Second)
		c = travels{connect(b, nil)}
		defer func() { _ = c.conn.Close() }()
		for source, ways := range map[string][]string{
			"q": {"abandoned", "forwarded", "scheduled", "scheduled by operation"}, "q/$DeadLetterQueue": {"rejected", "expired"},
			"events/Subscriptions/s": {"by a topic", "scheduled to a topic"},
		} {
			r := c.receiver(source, &amqp.ReceiverOptions{RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr(), Credit: 10})
			for _, way := range ways {
				c.sameAs(c.next(r), way)
			}
			_ = r.Close(ctx)
		}
		if _, all, _ := c.node("q").numbered(number); len(all) == 1 {
			c.sameAs(all[0], "deferred")
		} else {
			t.Error("deferred:", all)
		}
	})
}
