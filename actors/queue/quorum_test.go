package queue

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

// deliveryCount returns the x-delivery-count header of a delivery, nil without one.
func deliveryCount(t *testing.T, d mail.Delivery) any {
	t.Helper()
	v, _ := headers(t, &d.Message).Get("x-delivery-count")
	return v
}

// deliveryCounts takes the x-delivery-count headers of all deliveries.
func (c *core) deliveryCounts() (counts []any) {
	for _, x := range c.items() {
		counts = append(counts, deliveryCount(c.t, x))
	}
	return counts
}

// TestAcquiredCount_DL9: deliveries given back do not count towards the limit, but are shown.
func TestAcquiredCount_DL9(t *testing.T) {
	c := newQuorum(t, func(s *policies.QueueSettings) { s.DeliveryLimit = 1 })
	c.put("1")
	for n := range uint64(5) {
		c.get(ch1)
		c.settle(ch1, mail.Release, n+1, n+1)
	}
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 6, 6)
	h := headers(t, &c.get(ch2).Delivery.Message)
	failed, _ := h.Get("x-delivery-count")
	if all, _ := h.Get("x-acquired-count"); failed != int64(1) || all != int64(6) {
		t.Errorf("%v of %v", failed, all)
	}
}

// TestDeliveryCount_DL9: the header is set from the first failed delivery on, for consumers and basic.get.
func TestDeliveryCount_DL9(t *testing.T) {
	c := newQuorum(t)
	c.consume(ch1, "a", 1)
	c.put("1")
	c.settle(ch1, mail.Requeue, 1, 1)
	c.settle(ch1, mail.Requeue, 2, 2)
	if got := fmt.Sprint(c.deliveryCounts()); got != "[<nil> 1 2]" {
		t.Error(got)
	}
	c.feed(&mail.ChannelGone{Channel: ch1})
	if got := deliveryCount(t, c.get(ch2).Delivery); got != int64(3) {
		t.Errorf("%T %v", got, got)
	}
}

// TestDeliveryCountClassic_DL9: classic queues have neither the header nor a limit.
func TestDeliveryCountClassic_DL9(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 1)
	c.put("1")
	for n := range uint64(30) {
		c.settle(ch1, mail.Requeue, n+1, n+1)
	}
	for _, v := range c.deliveryCounts() {
		if v != nil {
			t.Fatal(v)
		}
	}
	if c.Backlog.Len() != 1 {
		t.Error("a limit on a classic queue")
	}
}

// TestDeliveryLimit_DL9: the default is 20 redeliveries; 0 allows none, and a negative limit is no limit.
func TestDeliveryLimit_DL9(t *testing.T) {
	limit := func(n int64) func(*policies.QueueSettings) {
		return func(s *policies.QueueSettings) { s.DeliveryLimit = n }
	}
	for _, x := range []struct {
		name   string
		change func(*policies.QueueSettings)
		want   int // number of deliveries
	}{
		{"default", func(*policies.QueueSettings) {}, 21},
		{"0", limit(0), 1},
		{"3", limit(3), 4},
		{"none", limit(-1), 100},
	} {
		c := newQuorum(t, dlx, x.change)
		c.consume(ch1, "a", 1)
		c.put("1")
		deliveries := 0
		for n := uint64(1); n <= 100; n++ {
			if len(c.delivered("a")) == 0 {
				break
			}
			deliveries++
			c.settle(ch1, mail.Requeue, n, n)
		}
		if deliveries != x.want {
			t.Errorf("%s: %d deliveries", x.name, deliveries)
		}
		if x.want < 100 {
			c.want(x.name, c.seenOff(), "delivery_limit 1")
		}
	}
	c := newQuorum(t, dlx)
	c.put("1")
	for n := range uint64(5) {
		c.get(ch1)
		c.settle(ch1, mail.Requeue, n+1, n+1)
	}
	s := c.Settings
	s.DeliveryLimit = 5
	c.feed(&mail.Configure{Settings: s})
	c.want("kept, it was not delivered since", c.ready(), "1")
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 6, 6)
	c.want("dead", c.seenOff(), "delivery_limit 1")
}

// TestDeliveryLimitTimeout_ADR10: deliveries that time out count towards the limit, too.
func TestDeliveryLimitTimeout_ADR10(t *testing.T) {
	c := newQuorum(t, timeout(10), dlx, func(s *policies.QueueSettings) { s.DeliveryLimit = 2 })
	c.put("1")
	for i := range 3 {
		c.get(ch1)
		c.at(int64(i+1) * 10)
	}
	c.want("dead", c.seenOff(), "delivery_limit 1")
}

// TestDeadWithCount_LOCK8: the dead-letter actor gets the delivery count, which is not among the copy's headers
// (TestDeliveryCountOfDeadLetters_DL9).
func TestDeadWithCount_LOCK8(t *testing.T) {
	c := newQuorum(t, dlx)
	c.put("1")
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.get(ch1)
	c.settle(ch1, mail.Reject, 2, 2)
	if d := one[*mail.DeadLetter](c); d.Messages[0].Overlay == nil || d.Messages[0].Overlay.DeliveryCount != 1 {
		t.Errorf("%+v", d.Messages[0].Overlay)
	}
}

// TestFailed_DL9: classic queues count failed deliveries, only for clients of AMQP 1.0.
func TestFailed_DL9(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 1)
	c.put("1")
	c.settle(ch1, mail.Requeue, 1, 1)
	c.settle(ch1, mail.Release, 2, 2)
	var failed []uint32
	for _, x := range c.items() {
		if o := x.Message.Overlay; o == nil {
			failed = append(failed, 0)
		} else {
			failed = append(failed, o.Failed)
		}
	}
	if !slices.Equal(failed, []uint32{0, 1, 1}) {
		t.Error(failed)
	}
}

// TestFailedOfDead_DL9: dead letters have the count of failed deliveries for clients of AMQP 1.0, in which a reject counts and a
// discard does not.
func TestFailedOfDead_DL9(t *testing.T) {
	for _, x := range []struct {
		c    *core
		how  mail.Settlement
		want uint32
	}{{newQuorum(t, dlx), mail.Reject, 2}, {newQuorum(t, dlx), mail.Discard, 1}, {newCore(t, dlx), mail.Reject, 2}} {
		x.c.put("1")
		x.c.get(ch1)
		x.c.settle(ch1, mail.Requeue, 1, 1)
		x.c.get(ch1)
		x.c.settle(ch1, x.how, 2, 2)
		d := one[*mail.DeadLetter](x.c)
		if o := d.Messages[0].Overlay; o == nil || o.DeliveryCount != 1 || o.Failed != x.want || d.Reason != "rejected" {
			t.Errorf("%d: %+v", x.how, o)
		}
	}
}

// TestRequeueKeepsPosition_TTL16: requeued messages keep their positions on quorum queues, too, where RabbitMQ 4 delivers them in
// the order in which they were requeued.
func TestRequeueKeepsPosition_TTL16(t *testing.T) {
	c := newQuorum(t)
	c.put("1", "2", "3")
	c.get(ch1)
	c.get(ch1)
	c.settle(ch1, mail.Requeue, 2, 2)
	c.settle(ch1, mail.Requeue, 1, 1)
	c.want("ready", c.ready(), "1", "2", "3")
}

// TestZero_TTL23: on quorum queues a TTL of 0 counts as 1 ms.
func TestZero_TTL23(t *testing.T) {
	for name, c := range map[string]*core{
		"message": newQuorum(t), "queue": newQuorum(t, ttl(0)),
	} {
		own := int64(message.NoTTL)
		if name == "message" {
			own = 0
		}
		c.publish(msg("1", own))
		c.want(name, c.ready(), "1")
		c.at(1)
		c.want(name, c.ready())
	}
}
