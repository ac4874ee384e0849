package amqp10

import (
	"context"
	"errors"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/servicebus/dialect/servicebus"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// second returns the options of a receiver that locks messages (rcv-settle-mode second), as clients of Azure Service Bus do.
func second(credit int32) *amqp.ReceiverOptions {
	return &amqp.ReceiverOptions{SettlementMode: amqp.ReceiverSettleModeSecond.Ptr(), Credit: credit}
}

// entity declares a queue configured like a Service Bus entity: locks of a minute, two deliveries, and a dead-letter queue.
func entity(b *testkit.Bubble) {
	b.Helper()
	entityOf(b, 1)
}

// entityOf declares it with another delivery limit.
func entityOf(b *testkit.Bubble, limit int32) {
	b.Helper()
	_, err := b.Connect().Open().QueueDeclare("q", true, false, false, false, amqp091.Table{
		"x-queue-type": "quorum", "x-delivery-limit": limit, "x-consumer-timeout": int32(60000), "x-dead-letter-queue": true, "x-delayed-messages": true,
	})
	if err != nil {
		b.Fatal(err)
	}
}

func lockLost(err error) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Condition == amqp.ErrCond(servicebus.LockLost)
}

// A link to a plain entity name: the data that a receiver gets with a message, and all the outcomes that it can send.
func TestEntity(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		ctx := context.Background()
		s, r := c.sender("q", nil), c.receiver("q", second(1))
		ttl, sent := time.Hour, time.Now()
		state := c.send(s, &amqp.Message{
			Header: &amqp.MessageHeader{TTL: ttl}, Data: [][]byte{[]byte("m")}, ApplicationProperties: map[string]any{"n": uint32(7)},
			Annotations: amqp.Annotations{"x-opt-partition-key": "p", "x-opt-sequence-number": nil},
		})
		if got := stateOf(state); got != "accepted" {
			t.Fatal(got)
		}
		m := c.next(r)
		if m == nil || len(m.DeliveryTag) != 16 || m.Header.TTL != ttl || m.Header.Durable || m.Header.DeliveryCount != 0 {
			t.Fatalf("%+v", m)
		}
		at, _ := m.Annotations["x-opt-enqueued-time"].(time.Time)
		until, _ := m.Annotations["x-opt-locked-until"].(time.Time)
		if n, _ := m.Annotations["x-opt-sequence-number"].(int64); n == 0 || at.Before(sent.Truncate(time.Millisecond)) || until.Sub(at).Round(time.Second) != time.Minute {
			t.Errorf("%v", m.Annotations)
		}
		if id, _ := m.Properties.MessageID.(string); len(id) != 32 {
			t.Errorf("it was sent without an id and has %q", id)
		}
		if m.Annotations["x-opt-partition-key"] != "p" || m.Annotations["x-exchange"] != nil || m.ApplicationProperties["n"] != uint32(7) {
			t.Errorf("%v, %v", m.Annotations, m.ApplicationProperties)
		}
		if err := r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{Annotations: amqp.Annotations{"note": "again"}}); err != nil { // abandon
			t.Fatal(err)
		}
		if m = c.next(r); m == nil || m.Header.DeliveryCount != 1 || m.ApplicationProperties["note"] != "again" || m.ApplicationProperties["n"] != uint32(7) {
			t.Fatalf("%+v", m)
		}
		if err := r.ReleaseMessage(ctx, m); err != nil {
			t.Fatal(err)
		}
		if m = c.next(r); m == nil || m.Header.DeliveryCount != 1 {
			t.Fatalf("%+v", m)
		}
		dead := c.receiver("q/$DeadLetterQueue", second(1))
		if err := r.RejectMessage(ctx, m, &amqp.Error{Condition: "com.microsoft:dead-letter", Info: map[string]any{"DeadLetterReason": "bad", "DeadLetterErrorDescription": "why", "code": uint32(8)}}); err != nil {
			t.Fatal(err)
		}
		m = c.next(dead)
		if m == nil || m.ApplicationProperties["DeadLetterReason"] != "bad" || m.ApplicationProperties["DeadLetterErrorDescription"] != "why" ||
			m.Annotations["x-opt-deadletter-source"] != "q" || m.ApplicationProperties["n"] != uint32(7) || m.ApplicationProperties["code"] != uint32(8) {
			t.Fatalf("%+v %v", m, m.ApplicationProperties)
		}
		if err := dead.AcceptMessage(ctx, m); err != nil {
			t.Fatal(err)
		}
	})
}

// A client that settles after its lock has expired gets an error, and its link stays attached. Messages that were delivered too
// often or expired are dead-lettered with Service Bus's names of the reasons.
func TestEntity_LockLost(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Log.Allow("not settled in time")
		ctx := context.Background()
		s, r := c.sender("q", nil), c.receiver("q", second(-1))
		c.put(s, "m")
		var first *amqp.Message
		for range 2 {
			if err := r.IssueCredit(1); err != nil {
				t.Fatal(err)
			}
			m := c.next(r)
			if m == nil {
				t.Fatal("nothing")
			}
			b.Advance(2 * time.Minute)
			if first == nil {
				first = m
			}
			if err := r.AcceptMessage(ctx, m); !lockLost(err) {
				t.Errorf("%v", err)
			}
		}
		if state := stateOf(c.send(s, &amqp.Message{Header: &amqp.MessageHeader{TTL: time.Second}, Data: [][]byte{[]byte("late")}})); state != "accepted" {
			t.Fatal(state)
		}
		b.Advance(time.Minute)
		dead := c.receiver("q/$DeadLetterQueue", &amqp.ReceiverOptions{RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr()})
		for body, want := range map[string]string{"m": "MaxDeliveryCountExceeded", "late": "TTLExpiredException"} {
			_ = body
			m := c.next(dead)
			if m == nil {
				t.Fatal(want)
			}
			if got := map[string]string{"m": "MaxDeliveryCountExceeded", "late": "TTLExpiredException"}[string(m.GetData())]; m.ApplicationProperties["DeadLetterReason"] != got {
				t.Errorf("%s: %v", m.GetData(), m.ApplicationProperties)
			}
		}
	})
}

// A link to a missing entity is attached with a null terminus and detached; its session and the other links of that stay open.
// Scheduled messages are delivered at their time.
func TestEntity_Links(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		ctx := context.Background()
		for address, want := range map[string]amqp.ErrCond{
			"none": "amqp:not-found", "t/Subscriptions/none": "amqp:not-found", "none/$Transfer/$DeadLetterQueue": "amqp:not-found",
		} {
			if _, err := c.session.NewReceiver(ctx, address, second(1)); condition(err) != want {
				t.Errorf("from %s: %v", address, err)
			}
		}
		for address, want := range map[string]amqp.ErrCond{"none": "amqp:not-found", "q/$DeadLetterQueue": "amqp:not-allowed", "q/$Transfer/$DeadLetterQueue": "amqp:not-allowed"} {
			if _, err := c.session.NewSender(ctx, address, nil); condition(err) != want {
				t.Errorf("to %s: %v", address, err)
			}
		}
		s, r := c.sender("q", nil), c.receiver("q", second(5))
		at := time.Now().Add(time.Hour)
		if got := stateOf(c.send(s, &amqp.Message{Data: [][]byte{{1}}, Annotations: amqp.Annotations{"x-opt-scheduled-enqueue-time": at}})); got != "accepted" {
			t.Fatal(got)
		}
		if m := c.next(r); m != nil {
			t.Fatal("early", m)
		}
		b.Advance(time.Until(at))
		if m := c.next(r); m == nil {
			t.Fatal("not at its time")
		} else if err := r.AcceptMessage(ctx, m); err != nil {
			t.Fatal(err)
		}
	})
}

// A transfer dead-letter queue exists and is empty: messages that wait to be forwarded stay in the queue. A drain uses up credit.
// (SBE-4)
func TestEntity_TransferDeadLetters(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		if got := stateOf(c.send(c.sender("q", nil), &amqp.Message{Data: [][]byte{{1}}})); got != "accepted" {
			t.Fatal(got)
		}
		r := c.receiver("q/$Transfer/$DeadLetterQueue", second(-1))
		ctx := context.Background()
		if err := r.IssueCredit(3); err != nil {
			t.Fatal(err)
		}
		if m := c.next(r); m != nil {
			t.Fatal(m)
		}
		if err := r.DrainCredit(ctx, nil); err != nil {
			t.Error(err)
		}
		n := c.node("q/$Transfer/$DeadLetterQueue")
		peek := map[string]any{"from-sequence-number": int64(0), "message-count": int32(10)}
		if code, _ := n.ask("peek-message", peek); code != 204 {
			t.Errorf("peeked: %d", code)
		}
		if code, _, _ := n.numbered(1); code != 404 {
			t.Errorf("received: %d", code)
		}
		if code, _ := n.schedule(n.scheduled("1", time.Now())); code != 400 {
			t.Errorf("scheduled: %d", code)
		}
		if code, _ := c.node("q").ask("peek-message", peek); code != 200 {
			t.Errorf("the queue has its message: %d", code)
		}
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// The node $cbs accepts tokens: any token from this machine if the setting allows it, otherwise tokens of access keys.
// An answer is sent to the link whose target is the reply-to.
func TestEntity_Tokens(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ctx := context.Background()
		entity(b)
		audience := "amqp://host/q"
		s := c.sender("$cbs", nil)
		other, r := c.receiver("$cbs", nil), c.receiver("$cbs", &amqp.ReceiverOptions{TargetAddress: "mine"})
		put := func(operation string, token any) any {
			t.Helper()
			to := "mine"
			err := s.Send(ctx, &amqp.Message{
				Properties: &amqp.MessageProperties{MessageID: "id", ReplyTo: &to}, Value: token,
				ApplicationProperties: map[string]any{"operation": operation, "type": "servicebus.windows.net:sastoken", "name": audience},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			m := c.next(r)
			if m == nil || m.Properties.CorrelationID != "id" {
				t.Fatalf("%+v", m)
			}
			if err := r.AcceptMessage(ctx, m); err != nil {
				t.Fatal(err)
			}
			return m.ApplicationProperties["status-code"]
		}
		if got := put("put-token", "any"); got != int32(401) {
			t.Error(got)
		}
		b.Users.AnyToken("guest")
		if got := put("put-token", "any"); got != int32(202) {
			t.Error(got)
		}
		if got := put("put-token", int32(1)); got != int32(400) {
			t.Error(got)
		}
		if got := put("other", "any"); got != int32(400) {
			t.Error(got)
		}
		audience = "amqp://host/none/$management"
		if got := put("put-token", "any"); got != int32(404) {
			t.Error(got)
		}
		if m := c.next(other); m != nil {
			t.Error(m)
		}
	})
}

// An answer is sent to the link whose target is the reply-to, otherwise to the link of that name, since links of clients for
// JavaScript have no target.
func TestEntity_AnswerByName(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Users.AnyToken("guest")
		ctx, to := context.Background(), "cbs-1"
		s, other, r := c.sender("$cbs", nil), c.receiver("$cbs", &amqp.ReceiverOptions{Name: "cbs-2"}), c.receiver("$cbs", &amqp.ReceiverOptions{Name: to})
		err := s.Send(ctx, &amqp.Message{
			Properties: &amqp.MessageProperties{MessageID: "id", ReplyTo: &to}, Value: "any",
			ApplicationProperties: map[string]any{"operation": "put-token", "type": "servicebus.windows.net:sastoken", "name": "amqp://host/q"},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m := c.next(r); m == nil || m.ApplicationProperties["status-code"] != int32(202) {
			t.Errorf("%+v", m)
		}
		if m := c.next(other); m != nil {
			t.Error(m)
		}
	})
}

// batch sends messages as one batch.
func (c *client) batch(s *amqp.Sender, parts ...*amqp.Message) string {
	c.Helper()
	whole := &amqp.Message{Format: servicebus.BatchFormat}
	for _, p := range parts {
		encoded, err := p.MarshalBinary()
		if err != nil {
			c.Fatal(err)
		}
		whole.Data = append(whole.Data, encoded)
	}
	return stateOf(c.send(s, whole))
}

// A batch is published as a whole, or not at all.
func TestEntity_Batch(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		s := c.sender("q", nil)
		batch := func(parts ...*amqp.Message) string { return c.batch(s, parts...) }
		one, two := amqp.NewMessage([]byte("1")), amqp.NewMessage([]byte("2"))
		if got := batch(one, two); got != "accepted" {
			t.Error(got)
		}
		bad := amqp.NewMessage([]byte("3"))
		bad.Properties = &amqp.MessageProperties{UserID: []byte("other")}
		if got := batch(one, bad); got != "rejected amqp:precondition-failed" {
			t.Error(got)
		}
		if got := stateOf(c.send(s, &amqp.Message{Format: servicebus.BatchFormat, Value: "x"})); got != "rejected amqp:invalid-field" {
			t.Error(got)
		}
		r := c.receiver("q", second(5))
		c.want(r, "1", "2")
		if m := c.next(r); m != nil {
			t.Error(m)
		}
	})
}

// A queue without room for a whole batch accepts none of it, even after single publishes; if a batch is routed to
// several queues, each queue decides for itself.
func TestEntity_BatchThatDoesNotFit_DL10(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		full := amqp091.Table{"x-max-length": int32(3), "x-overflow": "reject-publish"}
		for name, args := range map[string]amqp091.Table{"q": full, "topic/s1": full, "topic/s2": nil} {
			if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
				t.Fatal(err)
			}
		}
		if err := ch.ExchangeDeclare("topic", "fanout", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"topic/s1", "topic/s2"} {
			if err := ch.QueueBind(name, "", "topic", false, nil); err != nil {
				t.Fatal(err)
			}
		}
		s, topic, one := c.sender("q", nil), c.sender("topic", nil), func(body string) *amqp.Message { return amqp.NewMessage([]byte(body)) }
		if got := stateOf(c.send(s, one("1"))); got != "accepted" {
			t.Error(got)
		}
		if got := c.batch(s, one("a"), one("b"), one("c")); got != "rejected" {
			t.Error(got)
		}
		if got := c.batch(s, one("2"), one("3")); got != "accepted" {
			t.Error(got)
		}
		if got := c.batch(topic, one("1"), one("2"), one("3"), one("4")); got != "rejected" {
			t.Error(got)
		}
		for name, want := range map[string]int{"q": 3, "topic/s1": 0, "topic/s2": 4} {
			if q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil); err != nil || q.Messages != want {
				t.Errorf("%s has %d messages, want %d, %v", name, q.Messages, want, err)
			}
		}
	})
}
