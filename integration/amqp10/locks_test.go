package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/servicebus/dialect/servicebus"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// tokenOf returns the lock token of a message in the form used in requests.
func tokenOf(m *amqp.Message) amqp.UUID {
	return amqp.UUID(servicebus.LockToken(m.DeliveryTag).UUID())
}

// A message is settled by its lock token from other links, sessions and connections, once and while its lock lasts; a request
// settles all of its messages or none. (LOCK-7)
func TestEntity_SettledElsewhere(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Log.Allow("not settled in time")
		ctx := context.Background()
		c.put(c.sender("q", nil), "1", "2", "3", "4", "5")
		r := c.receiver("q", second(-1))
		if err := r.IssueCredit(5); err != nil {
			t.Fatal(err)
		}
		var all []*amqp.Message
		for range 5 {
			all = append(all, c.next(r))
		}
		other := connect(b, nil)
		defer func() { _ = other.conn.Close() }()
		n, own := other.node("q"), c.node("q")
		for _, s := range []struct {
			on     *node
			status string
			tokens []amqp.UUID
			want   int32
		}{
			{n, "completed", []amqp.UUID{tokenOf(all[0]), {1}}, 410},
			{n, "completed", []amqp.UUID{tokenOf(all[0]), tokenOf(all[0])}, 200},
			{n, "completed", []amqp.UUID{tokenOf(all[0])}, 410},
			{own, "defered", []amqp.UUID{tokenOf(all[1])}, 200},
			{own, "suspended", []amqp.UUID{tokenOf(all[2])}, 200},
			{n, "abandoned", []amqp.UUID{tokenOf(all[3])}, 200},
		} {
			if code := s.on.dispose(s.status, s.tokens, nil); code != s.want {
				t.Errorf("%s: %d, want %d", s.status, code, s.want)
			}
		}
		for _, m := range all[:4] {
			if err := r.AcceptMessage(ctx, m); !lockLost(err) {
				t.Errorf("%s: %v", m.GetData(), err)
			}
		}
		again := other.receiver("q", second(2))
		if m := other.next(again); m == nil || string(m.GetData()) != "4" || m.Header.DeliveryCount != 1 {
			t.Fatalf("%+v", m)
		} else if code := own.dispose("completed", []amqp.UUID{tokenOf(m)}, nil); code != 200 {
			t.Error(code)
		}
		number, _ := all[1].Annotations["x-opt-sequence-number"].(int64)
		if _, got, tokens := own.numbered(number); len(got) != 1 || n.dispose("completed", tokens, nil) != 200 {
			t.Error("deferred:", got)
		}
		other.want(other.receiver("q/$DeadLetterQueue", second(1)), "3")
		b.Advance(2 * time.Minute)
		if code := n.dispose("completed", []amqp.UUID{tokenOf(all[4])}, nil); code != 410 {
			t.Error("its lock has run out:", code)
		}
		if m := other.next(again); m == nil || string(m.GetData()) != "5" {
			t.Fatalf("%+v", m)
		}
	})
}

// A message in a dead-letter queue keeps the delivery count with which it arrived there, after any action of its
// receivers: on links, in a peek, and after it was deferred. (LOCK-8)
func TestEntity_DeadLettersKeepTheirCount_LOCK8(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		ctx := context.Background()
		c.put(c.sender("q", nil), "never abandoned", "abandoned", "too often")
		r, dead := c.receiver("q", second(1)), c.receiver("q/$DeadLetterQueue", second(1))
		abandon := func(r *amqp.Receiver, m *amqp.Message) {
			t.Helper()
			if err := r.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{DeliveryFailed: true}); err != nil {
				t.Fatal(err)
			}
		}
		reject := func(body string) {
			t.Helper()
			m := c.next(r)
			if m == nil || string(m.GetData()) != body {
				t.Fatalf("%+v, want %s", m, body)
			}
			if err := r.RejectMessage(ctx, m, nil); err != nil {
				t.Fatal(err)
			}
		}
		reject("never abandoned")
		abandon(r, c.next(r))
		reject("abandoned")
		for range 2 {
			abandon(r, c.next(r))
		}
		n := c.node("q/$DeadLetterQueue")
		for _, want := range []struct {
			body  string
			count uint32
		}{{"never abandoned", 0}, {"abandoned", 1}, {"too often", 2}} {
			var m *amqp.Message
			for range 3 {
				if m = c.next(dead); m == nil || string(m.GetData()) != want.body || m.Header.DeliveryCount != want.count {
					t.Fatalf("%+v, want %v", m, want)
				}
				abandon(dead, m)
			}
			m = c.next(dead)
			_, answer := n.ask("peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1)})
			if got, _ := n.messages(answer); len(got) != 1 || got[0].Header.DeliveryCount != want.count {
				t.Errorf("%s: peeked at %+v", want.body, got)
			}
			if err := dead.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{UndeliverableHere: true}); err != nil {
				t.Fatal(err)
			}
			number, _ := m.Annotations["x-opt-sequence-number"].(int64)
			_, got, tokens := n.numbered(number)
			if len(got) != 1 || got[0].Header.DeliveryCount != want.count || n.dispose("completed", tokens, nil) != 200 {
				t.Errorf("%s: deferred as %+v", want.body, got)
			}
		}
	})
}

// In a queue without a consumer timeout, such as a dead-letter queue, a message is locked for a minute for clients of Azure
// Service Bus, which get the time at which the lock ends and can renew it; for other clients it is locked until it is settled. A
// policy sets another time.
func TestEntity_DefaultLock_LOCK11(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Log.Allow("not settled in time")
		b.Connect().Open().Declare("plain", nil)
		ctx := context.Background()
		locked := func(m *amqp.Message) time.Duration {
			until, _ := m.Annotations["x-opt-locked-until"].(time.Time)
			return time.Until(until).Round(time.Second)
		}
		c.put(c.sender("q", nil), "m")
		r := c.receiver("q", second(1))
		if err := r.RejectMessage(ctx, c.next(r), nil); err != nil {
			t.Fatal(err)
		}
		c.put(c.sender("plain", nil), "m")
		for source, queue := range map[string]string{"q/$DeadLetterQueue": "q.dlq", "plain": "plain"} {
			r, n := c.receiver(source, second(2)), c.node(source)
			m := c.next(r)
			if m == nil || locked(m) != time.Minute {
				t.Fatalf("%s: %+v", source, m)
			}
			b.Advance(40 * time.Second)
			if code, answer := n.ask("renew-lock", map[string]any{"lock-tokens": []amqp.UUID{tokenOf(m)}}); code != 200 || time.Until(answer["expirations"].([]time.Time)[0]).Round(time.Second) != time.Minute {
				t.Errorf("%s: %d %v", source, code, answer)
			}
			b.Advance(59 * time.Second)
			if m := r.Prefetched(); m != nil {
				t.Error("early", m)
			}
			b.Advance(time.Second)
			if m = c.next(r); m == nil {
				t.Fatal("it is still locked")
			}
			if err := r.AcceptMessage(ctx, m); err != nil {
				t.Error(err)
			}
			b.SetPolicy("locks", `{"pattern":"^(q.dlq|plain)$","apply-to":"queues","definition":{"consumer-timeout":300000}}`)
			c.put(c.sender("/queues/"+queue, nil), "m")
			if m = c.next(r); m == nil || locked(m) != 5*time.Minute {
				t.Errorf("%s: by a policy %+v", source, m)
			}
			b.ClearPolicy("locks")
		}
		b.Connect().Open().Declare("other", nil)
		c.put(c.sender("/queues/other", nil), "m")
		last := c.receiver("/queues/other", &amqp.ReceiverOptions{Credit: 1})
		if m := c.next(last); m == nil {
			t.Fatal("nothing")
		}
		b.Advance(24 * time.Hour)
		if i := b.Describe("other"); i.Unacked != 1 {
			t.Error("it is not locked any more")
		}
	})
}

// Dead letters are locked for as long as messages of the queue they were dead-lettered from, also after a change of its policies
// and a restart; for a minute when that queue has been deleted.
func TestEntity_DeadLetterLock_LOCK11(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		c := connect(b, nil)
		args := amqp091.Table{"x-queue-type": "quorum", "x-dead-letter-queue": true, "x-delayed-messages": true}
		if _, err := b.Connect().Open().QueueDeclare("q", true, false, false, false, args); err != nil {
			t.Fatal(err)
		}
		locked := func(c *client, want time.Duration) {
			t.Helper()
			c.put(c.sender("/queues/q.dlq", nil), "m")
			r := c.receiver("q/$DeadLetterQueue", second(1))
			m := c.next(r)
			if m == nil {
				t.Fatal("no dead letter")
			}
			until, _ := m.Annotations["x-opt-locked-until"].(time.Time)
			if got := time.Until(until).Round(time.Second); got != want {
				t.Errorf("locked for %v, want %v", got, want)
			}
			if err := r.AcceptMessage(context.Background(), m); err != nil {
				t.Error(err)
			}
			if err := r.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		policy := func(ms string) {
			b.SetPolicy("locks", `{"pattern":"^q$","apply-to":"queues","definition":{"consumer-timeout":`+ms+`}}`)
		}
		locked(c, time.Minute)
		policy("20000")
		locked(c, 20*time.Second)
		b.ClearPolicy("locks")
		locked(c, time.Minute)
		policy("30000")
		_ = c.conn.Close()
		b.Restart(time.Second)
		c = connect(b, nil)
		defer func() { _ = c.conn.Close() }()
		locked(c, 30*time.Second)
		if _, err := b.Connect().Open().QueueDelete("q", false, false, false); err != nil {
			t.Fatal(err)
		}
		b.Advance(0) // q.dlq is told after the queue
		locked(c, time.Minute)
	})
}

// In a queue without a timeout, a deferred message that is received by its number is locked for a minute, too.
func TestEntity_DeferredDefaultLock_LOCK11(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Log.Allow("not settled in time")
		entity(b)
		c.put(c.sender("q", nil), "m")
		r := c.receiver("q", second(1))
		if err := r.RejectMessage(context.Background(), c.next(r), nil); err != nil {
			t.Fatal(err)
		}
		b.Connect().Open().Declare("plain", nil)
		c.put(c.sender("plain", nil), "m")
		for _, source := range []string{"q/$DeadLetterQueue", "plain"} {
			n := c.node(source)
			at := c.deferAll(c.receiver(source, second(1)), 1)
			_, all, tokens := n.numbered(at...)
			if len(all) != 1 {
				t.Fatal(source, all)
			}
			if until, _ := all[0].Annotations["x-opt-locked-until"].(time.Time); time.Until(until).Round(time.Second) != time.Minute {
				t.Errorf("%s: locked until %v", source, until)
			}
			b.Advance(40 * time.Second)
			if code, answer := n.ask("renew-lock", map[string]any{"lock-tokens": tokens}); code != 200 || time.Until(answer["expirations"].([]time.Time)[0]).Round(time.Second) != time.Minute {
				t.Errorf("%s: %d %v", source, code, answer)
			}
			b.Advance(59 * time.Second)
			if code, _, _ := n.numbered(at...); code != 404 {
				t.Errorf("%s: not locked: %d", source, code)
			}
			b.Advance(time.Second)
			if code, _, _ := n.numbered(at...); code != 200 {
				t.Errorf("%s: still locked: %d", source, code)
			}
		}
	})
}
