package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// asks settles deliveries and takes the answer.
func (c *core) asks(how mail.Settlement, ranges ...mail.Range) *mail.SettleReply {
	c.t.Helper()
	m := &mail.Settle{Channel: ch1, Asked: &mail.Request{ReplyTo: ch1, ID: 77}}
	for _, r := range ranges {
		m.Ranges = append(m.Ranges, mail.SettleRange{First: r.First, Last: r.Last, How: how})
	}
	c.feed(m)
	reply := one[*mail.SettleReply](c)
	if reply.ID != 77 || reply.Err != nil {
		c.t.Errorf("%+v", reply)
	}
	return reply
}

func (c *core) wantLost(r *mail.SettleReply, want ...mail.Range) {
	c.t.Helper()
	if !slices.Equal(r.Lost, want) {
		c.t.Errorf("lost %v, want %v", r.Lost, want)
	}
}

// TestSettled_LOCK1: the answer lists the deliveries that were not held any more, even if it takes several turns.
func TestSettled_LOCK1(t *testing.T) {
	for _, most := range []uint16{1, 3, 4096} {
		c := newCore(t)
		c.turnLimit = most
		c.consume(ch1, "a", 0)
		c.put(bodies(1, 300)...)
		all[*mail.Deliver](c)
		c.wantLost(c.asks(mail.Ack, mail.Range{First: 2, Last: 2}, mail.Range{First: 4, Last: 5}))
		c.wantLost(c.asks(mail.Requeue, mail.Range{First: 1, Last: 6}, mail.Range{First: 300, Last: 310}),
			mail.Range{First: 2, Last: 2}, mail.Range{First: 4, Last: 5}, mail.Range{First: 301, Last: 310})
		c.wantLost(c.asks(mail.Ack, mail.Range{First: 1, Last: 1}), mail.Range{First: 1, Last: 1})
		c.wantLost(c.asks(mail.Ack, mail.Range{First: 7, Last: 299}))
		if c.Counts.Late != 1+2+10+1 {
			t.Errorf("%d late", c.Counts.Late)
		}
	}
}

// TestSettledLate_LOCK1: a delivery that is not settled in time is lost at its deadline, not before, and all are lost when the
// channel or the queue ends. Without a request there is no answer.
func TestSettledLate_LOCK1(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1", "2")
	c.get(ch1)
	c.at(500)
	c.get(ch1)
	c.at(999)
	c.wantLost(c.asks(mail.Ack))
	c.at(1000)
	c.wantLost(c.asks(mail.Ack, mail.Range{First: 1, Last: 2}), mail.Range{First: 1, Last: 1})
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.wantLost(c.asks(mail.Ack, mail.Range{First: 1, Last: 2}), mail.Range{First: 1, Last: 2})
	c.settle(ch1, mail.Ack, 1, 2)
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch2}, Connection: owner})
	m := &mail.Settle{Channel: ch1, Asked: &mail.Request{ReplyTo: ch1}, Ranges: []mail.SettleRange{{First: 3, Last: 9}}}
	c.feed(m)
	if n := len(all[*mail.SettleReply](c)); n != 0 {
		t.Fatalf("%d answers by a queue that may be kept", n)
	}
	c.feed(&mail.QueueForgotten{})
	c.wantLost(one[*mail.SettleReply](c), mail.Range{First: 3, Last: 9})
}

// table returns a table of text fields.
func table(fields ...string) (t protocol.Table) {
	for i := 0; i < len(fields); i += 2 {
		t = append(t, protocol.Field{Key: fields[i], Value: fields[i+1]})
	}
	return t
}

func (c *core) outcome(how mail.Settlement, number uint64, o *mail.Outcome) {
	c.feed(&mail.Settle{Channel: ch1, Ranges: []mail.SettleRange{{First: number, Last: number, How: how, Outcome: o}}})
}

// headers returns the headers of a message as clients of 0-9-1 get them.
func headers(t *testing.T, m *message.Message) protocol.Table {
	t.Helper()
	raw, err := m.Overlay.Header(m.Header)
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.DecodeProperties(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p.Headers
}

// TestRelease_LOCK2: a released message returns to its position, marked as redelivered, and its delivery is not counted.
func TestRelease_LOCK2(t *testing.T) {
	c := newCore(t, func(s *policies.QueueSettings) { s.DeliveryLimit = 0 })
	c.put("1", "2")
	for range 3 {
		n := c.get(ch1).Delivery.Number
		c.settle(ch1, mail.Release, n, n)
		c.want("ready", c.ready(), "1", "2")
	}
	h, _ := c.Backlog.Oldest()
	r := c.get(ch1)
	if !r.Delivery.Redelivered || c.Backlog.Entry(h).Returns != 3*message.GivenBackOnce {
		t.Error("not redelivered, or counted")
	}
	c.settle(ch1, mail.Requeue, r.Delivery.Number, r.Delivery.Number)
	c.want("over the limit", c.ready(), "2")
	c.publish(msg("3", 10))
	c.get(ch1)
	n := c.get(ch1).Delivery.Number
	c.at(10)
	c.settle(ch1, mail.Release, n, n)
	c.want("past its deadline", c.ready())
}

// TestAmended_LOCK2: annotations and properties set by consumers are merged and reach the next receiver, with the content in
// memory or not, and after a restart.
func TestAmended_LOCK2(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		cfg := testConfig(settings())
		cfg.Queue.Durable = true
		c := newCoreOf(t, cfg)
		c.pressed = func() bool { return pressed }
		c.Pager.Idle = 0
		for _, body := range []string{"1", "2", "3"} {
			m := msg(body, -1)
			setPersistent(&m, body != "3")
			c.publish(m)
		}
		c.consume(ch1, "a", 1)
		d := c.deliveries1()
		c.outcome(mail.Requeue, d.Number, &mail.Outcome{Annotations: table("x-opt-a", "1", "x-death", "forged"), Properties: table("p", "1")})
		d = c.deliveries1()
		c.outcome(mail.Release, d.Number, &mail.Outcome{Properties: table("p", "2", "q", "3")})
		d = c.deliveries1()
		if got := fmt.Sprint(headers(t, &d.Message)); got != "[{x-opt-a 1} {p 2} {q 3}]" || string(d.Message.Body) != "1" {
			t.Errorf("pressed %v: %s", pressed, got)
		}
		if h, _ := c.Backlog.Oldest(); h == 0 {
			t.Fatal("the others are gone")
		}
		c.feed(&mail.ChannelGone{Channel: ch1})
		recovered := c.disk.survivors()
		if len(recovered) != 2 {
			t.Fatalf("pressed %v: %d survive", pressed, len(recovered))
		}
		cfg.Recovered = recovered
		again := newCoreOf(t, cfg)
		again.disk.puts = c.disk.puts
		got := again.get(ch1).Delivery
		if h := fmt.Sprint(headers(t, &got.Message)); h != "[{x-opt-a 1} {p 2} {q 3}]" {
			t.Errorf("pressed %v, after a restart: %s", pressed, h)
		}
	}
}

// deliveries1 takes the only delivery.
func (c *core) deliveries1() mail.Delivery {
	c.t.Helper()
	d := one[*mail.Deliver](c)
	if len(d.Items) != 1 {
		c.t.Fatalf("%d deliveries", len(d.Items))
	}
	return d.Items[0]
}

// TestAmendedAsRead_LOCK2: while the content for an amendment is read, the delivery is still held, so it can be lost; it is
// settled once.
func TestAmendedAsRead_LOCK2(t *testing.T) {
	for _, row := range []struct {
		name string
		do   func(c *core)
		lost int
	}{
		{"read", func(c *core) {}, 0},
		{"cannot be read", func(c *core) { c.disk.reads[0].(*deliveries.LookedUp).Contents[0].Err = store.ErrDamaged }, 0},
		{"not in time", func(c *core) { c.at(1000) }, 1},
		{"settled meanwhile", func(c *core) { c.settle(ch1, mail.Ack, 1, 1) }, 1},
		{"channel gone", func(c *core) { c.feed(&mail.ChannelGone{Channel: ch1}) }, 1},
	} {
		cfg := testConfig(settings(timeout(1000)))
		cfg.Queue.Durable = true
		c := newCoreOf(t, cfg)
		c.publish(persistentMsg("1", -1))
		c.get(ch1)
		c.pressed, c.Pager.Idle = func() bool { return true }, 0
		c.feed(&mail.Trim{})
		c.pressed = nil
		c.OverLimit = false
		if c.Backlog.Paged() != 1 {
			t.Fatalf("%s: the content is in memory", row.name)
		}
		c.disk.late = true
		c.feed(&mail.Settle{
			Channel: ch1, Asked: &mail.Request{ReplyTo: ch1},
			Ranges: []mail.SettleRange{{First: 1, Last: 1, How: mail.Requeue, Outcome: &mail.Outcome{Properties: table("p", "1")}}},
		})
		if len(all[*mail.SettleReply](c)) != 0 || c.consumers.Unacked() != 1 {
			t.Fatalf("%s: settled before its content was there", row.name)
		}
		row.do(c)
		c.disk.late = false
		c.arrive()
		if r := one[*mail.SettleReply](c); len(r.Lost) != row.lost || c.consumers.Unacked() != 0 {
			t.Errorf("%s: %+v, %d held", row.name, r, c.consumers.Unacked())
		}
	}
}

// TestAmendedTransient_LOCK2: an amendment does not make a transient message persistent, even if that is known only after it is
// read.
func TestAmendedTransient_LOCK2(t *testing.T) {
	for _, kind := range []store.Kind{store.Put, store.Spill} {
		c := recovered(t, settings(), false, store.Recovered{Deadline: store.Never, TTL: -1, Deferred: true})
		r := c.disk.puts[1]
		r.Kind = kind
		c.disk.puts[1] = r
		if d := c.receive(false, 1).Deliveries; len(d) != 1 {
			t.Errorf("%d: %+v", kind, d)
		}
		c.outcome(mail.Requeue, 1, &mail.Outcome{Properties: table("p", "1")})
		if r = c.disk.puts[1]; !r.Again || r.Kind != kind {
			t.Errorf("%d was written as %+v", kind, r)
		}
	}
}

// TestAmendedUnderWay_LOCK2: a content is paged out only when the journal has the latest amendment.
func TestAmendedUnderWay_LOCK2(t *testing.T) {
	cfg := testConfig(settings())
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.pressed, c.Pager.Idle, c.hold = func() bool { return true }, 0, true
	c.publish(persistentMsg("1", -1))
	for i := range 2 {
		n := c.get(ch1).Delivery.Number
		c.outcome(mail.Release, n, &mail.Outcome{Properties: table("p", fmt.Sprint(i))})
	}
	for left := 3; left > 0; left-- {
		if len(c.commits) != left || c.Backlog.Paged() != 0 {
			t.Fatalf("%d commits, %d paged out", len(c.commits), c.Backlog.Paged())
		}
		c.settleCommit()
	}
	if c.Backlog.Paged() != 1 {
		t.Error("it stays in memory")
	}
	c.hold = false
	got := c.get(ch1).Delivery
	if h := fmt.Sprint(headers(t, &got.Message)); h != "[{p 1}]" {
		t.Error(h)
	}
}

// TestAmendedDies_LOCK2: the dead letter of a message that is rejected, or that exceeds the delivery limit, carries the
// amendments.
func TestAmendedDies_LOCK2(t *testing.T) {
	for _, how := range []mail.Settlement{mail.Reject, mail.Requeue} {
		c := newCore(t, dlx, func(s *policies.QueueSettings) { s.DeliveryLimit = 0 })
		c.put("1")
		c.get(ch1)
		c.outcome(how, 1, &mail.Outcome{Properties: table("DeadLetterReason", "broken")})
		l := one[*mail.DeadLetter](c)
		dead := l.Messages[0].Overlay.Died(message.Death{Queue: "q", Reason: l.Reason})
		if v, _ := dead.Properties.Get("DeadLetterReason"); v != "broken" {
			t.Errorf("%d: %+v", how, dead)
		}
	}
}

// TestAmendedBound_LOCK2: an outcome that exceeds the limit is ignored as a whole, but the message is still settled. Amendments
// are counted as memory.
func TestAmendedBound_LOCK2(t *testing.T) {
	c := newCore(t)
	c.put("1")
	before := c.Backlog.Counted()
	for i, row := range []struct{ size, want int }{{message.MaxAmended / 2, 1}, {message.MaxAmended / 2, 1}, {100, 2}} {
		n := c.get(ch1).Delivery.Number
		c.outcome(mail.Release, n, &mail.Outcome{Properties: table(fmt.Sprint("p", i), strings.Repeat("x", row.size))})
		h, _ := c.Backlog.First()
		var r backlog.Record
		c.Backlog.Get(h, &r)
		if got := len(r.Overlay.Properties); got != row.want {
			t.Errorf("%d: %d properties, want %d", i, got, row.want)
		}
	}
	if held := c.Backlog.Counted() - before; held < message.MaxAmended/2 || held > 3*message.MaxAmended {
		t.Errorf("%d bytes are counted", held)
	}
	c.get(ch1)
	c.settle(ch1, mail.Ack, 1, 10)
	if c.Backlog.Counted() > before {
		t.Error("bytes are counted of what is gone")
	}
}
