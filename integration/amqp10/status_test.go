package amqp10

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/servicebus/dialect/servicebus"
	status "candlemark/internal/servicebus/entity"
	"candlemark/internal/storage/parameters"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

const disabled = amqp.ErrCond(servicebus.EntityDisabled)

// become sets the status of an entity, as the administration API does.
func become(b *testkit.Bubble, path string, s status.Status) {
	b.Helper()
	_, err := b.Node.API().PutParameter(context.Background(), parameters.Parameter{
		Component: status.Component, VHost: "/", Name: path, Value: status.Extra{Status: s}.Marshal(),
	})
	if err != nil {
		b.Fatal(err)
	}
}

// attaches returns the conditions with which a sender and a receiver are refused, "ok" for an accepted one.
func (c *client) attaches(to, from string) string {
	c.Helper()
	one := func(err error) string {
		if err == nil {
			return "ok"
		}
		return string(condition(err))
	}
	ctx, s := context.Background(), c.begin()
	sender, err := s.NewSender(ctx, to, nil)
	if err == nil {
		err = sender.Send(ctx, amqp.NewMessage([]byte("m")), nil)
	}
	_, err2 := s.NewReceiver(ctx, from, second(-1))
	return one(err) + ", " + one(err2)
}

// Links are refused if the status of their entity forbids them; the status does not affect clients of RabbitMQ's dialect and of
// 0-9-1.
func TestStatus_Attach_SBE1(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		no := string(disabled)
		for s, want := range map[status.Status]string{
			status.Active: "ok, ok", status.Disabled: no + ", " + no, status.SendDisabled: no + ", ok", status.ReceiveDisabled: "ok, " + no,
		} {
			become(b, "q", s)
			if got := c.attaches("q", "q"); got != want {
				t.Errorf("%s: %s, want %s", s, got, want)
			}
		}
		become(b, "q", status.Disabled)
		if got := c.attaches("q", "q/$DeadLetterQueue"); got != no+", "+no {
			t.Error("dead letters:", got)
		}
		c.put(c.sender("/queues/q", nil), "m")
		if m := c.next(c.receiver("/queues/q", nil)); m == nil {
			t.Error("RabbitMQ's dialect: nothing is received")
		}
		if _, err := b.Connect().Open().Consume("q", "", false, false, false, false, nil); err != nil {
			t.Error("0-9-1:", err)
		}
		if _, err := b.Node.API().DeleteParameter(context.Background(), parameters.Parameter{Component: status.Component, VHost: "/", Name: "q"}); err != nil {
			t.Fatal(err)
		}
		if got := c.attaches("q", "q"); got != "ok, ok" {
			t.Error("without a description:", got)
		}
	})
}

// Receiving from a subscription also needs a topic whose status allows it; a topic routes messages to disabled subscriptions.
func TestStatus_Topics_SBE1(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		const s = "t/Subscriptions/s"
		if err := ch.ExchangeDeclare("t", "x-rules", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := ch.QueueDeclare(s, true, false, false, false, amqp091.Table{"x-queue-type": "quorum"}); err != nil {
			t.Fatal(err)
		}
		if err := ch.QueueBind(s, "$Default", "t", false, nil); err != nil {
			t.Fatal(err)
		}
		no := string(disabled)
		for _, w := range []struct {
			topic, subscription status.Status
			want                string
		}{
			{status.Active, status.Active, "ok, ok"},
			{status.Active, status.Disabled, "ok, " + no},
			{status.Active, status.SendDisabled, "ok, ok"},
			{status.Disabled, status.Active, no + ", " + no},
			{status.SendDisabled, status.Active, no + ", ok"},
			{status.ReceiveDisabled, status.Active, "ok, " + no},
		} {
			become(b, "t", w.topic)
			become(b, s, w.subscription)
			if got := c.attaches("t", s); got != w.want {
				t.Errorf("%s, %s: %s, want %s", w.topic, w.subscription, got, w.want)
			}
		}
		synctest.Wait()
		if q, err := ch.QueueDeclarePassive(s, true, false, false, false, nil); err != nil || q.Messages != 4 {
			t.Errorf("%d messages, %v", q.Messages, err)
		}
	})
}

// Attached links are detached when a new status forbids them, and their unsettled messages stay locked; links of other entities
// stay attached.
func TestStatus_Detach_SBE2(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		if _, err := b.Connect().Open().QueueDeclare("other", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		own := *c
		own.session = c.begin()
		s, r, other := c.sender("q", nil), c.receiver("q", second(2)), own.receiver("other", second(2))
		c.put(s, "1", "2")
		held := c.next(r)
		become(b, "q", status.ReceiveDisabled)
		time.Sleep(time.Second)
		if err := r.AcceptMessage(ctx, held); condition(err) != disabled {
			t.Error("settled by", err)
		}
		c.put(s, "3")
		become(b, "q", status.SendDisabled)
		time.Sleep(time.Second)
		if err := s.Send(ctx, amqp.NewMessage([]byte("4")), nil); condition(err) != disabled {
			t.Error("sent by", err)
		}
		again := c.receiver("q", second(-1))
		if err := again.IssueCredit(3); err != nil {
			t.Fatal(err)
		}
		c.want(again, "3")
		b.Advance(time.Minute) // the other messages are unlocked, whose locks outlived their link (LOCK-10)
		c.want(again, "1", "2")
		become(b, "q", status.Active)
		c.put(c.sender("q", nil), "5")
		own.put(own.sender("other", nil), "o")
		own.want(other, "o")
		dead := c.receiver("q.dlq", second(1))
		become(b, "q", status.ReceiveDisabled)
		time.Sleep(time.Second)
		if _, err := dead.Receive(ctx, nil); condition(err) != disabled {
			t.Error("dead letters, by the name of their queue:", err)
		}
	})
}

// A receiver that waits for a session is refused when the queue is disabled during the wait, and its connection stays
// open.
func TestStatus_Waiting_SBE2(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		sessions(b)
		refused := make(chan error)
		waiting := c.begin()
		go func() {
			_, err := waiting.NewReceiver(context.Background(), "s", nextSession(time.Minute))
			refused <- err
		}()
		time.Sleep(time.Second)
		become(b, "s", status.ReceiveDisabled)
		since := time.Now()
		if err := <-refused; condition(err) != disabled || time.Since(since) > 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(since))
		}
		become(b, "s", status.Active)
		c.sendsTo("s", "a", "1")
		if r := c.receiver("s", nextSession(time.Minute)); r.LinkSourceFilterValue(sessionFilter) != "a" {
			t.Error("the session is not free")
		}
	})
}

// Requests to ENTITY/$management are refused by the status, except requests that only read.
func TestStatus_Node_SBE3(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		for s, want := range map[status.Status][]string{
			status.Active: nil, status.SendDisabled: {"schedule", "cancel"}, status.ReceiveDisabled: {"settle", "renew", "by number"},
			status.Disabled: {"settle", "renew", "by number", "schedule", "cancel"},
		} {
			become(b, "q", s)
			var got []string
			for _, o := range operations {
				switch o.name {
				case "peek", "settle", "renew", "by number", "schedule", "cancel":
					if o.do(c) == any(int32(400)) {
						got = append(got, o.name)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s refuses %q, want %q", s, got, want)
			}
		}
	})
}
