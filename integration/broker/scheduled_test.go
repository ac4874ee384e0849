package broker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// keepsScheduled are the arguments of a queue that holds scheduled messages.
var keepsScheduled = amqp.Table{"x-delayed-messages": true}

// dated returns a persistent message with a header, and its body as message-id.
func dated(body, header string, v any) amqp.Publishing {
	return amqp.Publishing{
		Body: []byte(body), DeliveryMode: amqp.Persistent, MessageId: body, Headers: amqp.Table{header: v},
	}
}

// inFuture returns a moment in RFC 3339, to the microsecond.
func inFuture(d time.Duration) string {
	return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}

func expectScheduled(b *testkit.Bubble, queue string, want int) {
	b.Helper()
	synctest.Wait()
	if got := b.Describe(queue).Scheduled.Count; got != want {
		b.Errorf("%v: %s has %d messages scheduled, want %d", b.Elapsed(), queue, got, want)
	}
}

// page returns the messages that an actor has scheduled.
func page(b *testkit.Bubble, of mail.Address) *mail.ScheduledPage {
	b.Helper()
	p := testkit.Ask[*mail.ScheduledPage](b, of, func(r mail.Request) any { return &mail.ListScheduled{Request: r} })
	if p.Err != nil {
		b.Fatal(p.Err)
	}
	return p
}

// ids returns the message-ids that an actor has scheduled, in order.
func ids(b *testkit.Bubble, of mail.Address) string {
	b.Helper()
	var list []string
	for _, m := range page(b, of).Messages {
		list = append(list, m.MessageID)
	}
	return strings.Join(list, " ")
}

func cancels(b *testkit.Bubble, of mail.Address, seq uint64, id string) int {
	b.Helper()
	return testkit.Ask[*mail.ChangeScheduledReply](b, of, func(r mail.Request) any {
		return &mail.ChangeScheduled{Cancel: true, Request: r, Seq: seq, MessageID: id}
	}).Count
}

func reschedules(b *testkit.Bubble, of mail.Address, id string, to time.Time) int {
	b.Helper()
	return testkit.Ask[*mail.ChangeScheduledReply](b, of, func(r mail.Request) any {
		return &mail.ChangeScheduled{Request: r, MessageID: id, Due: to.UnixMilli()}
	}).Count
}

// Messages are scheduled in classic and in quorum queues, by each header; they are confirmed at once, and never delivered early.
func TestDLY8Scheduled(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				durable(b, ch, "q", amqp.Table{"x-queue-type": kind, "x-delayed-messages": true, "x-deliver-at-header": "eta", "x-max-length": int32(1)})
				came := ch.Watch("q")
				for i, m := range []amqp.Publishing{
					dated("1000", "x-delay", int32(1000)),
					dated("3000", "x-deliver-at", time.Now().Add(3*time.Second).UnixMilli()),
					dated("2000", "x-deliver-at", inFuture(2*time.Second)),
					dated("4000", "x-deliver-at", time.Now().Add(4*time.Second)),
					dated("5000", "eta", inFuture(5*time.Second)),
				} {
					stores(b, ch, "", "q", m)
					expectScheduled(b, "q", i+1)
				}
				if q, err := ch.QueueDeclarePassive("q", true, false, false, false, nil); err != nil || q.Messages != 0 {
					t.Errorf("%d messages are ready, %v", q.Messages, err)
				}
				for _, want := range []int{1000, 2000, 3000, 4000, 5000} {
					a := testkit.Receive(b, came)
					if at := a.At.Milliseconds(); string(a.Body) != fmt.Sprint(want) || at < int64(want)-1 || at > int64(want)+5 {
						t.Errorf("%s came at %d ms", a.Body, at)
					}
				}
				expectScheduled(b, "q", 0)
			})
		})
	}
}

// A policy applies to later publishes; scheduled messages stay scheduled without it.
func TestDLY8Policy(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Confirms()
		ch.Publish("", "q", dated("before", "x-delay", int32(1000)))
		b.SetPolicy("p", `{"pattern":"q","definition":{"delayed-messages":true,"deliver-at-header":"eta"}}`)
		ch.Publish("", "q", dated("held", "eta", inFuture(time.Second)))
		ch.Publish("", "q", dated("none", "eta", nil))
		expectScheduled(b, "q", 1)
		b.SetPolicy("p", `{"pattern":"q","definition":{"delayed-messages":true}}`)
		ch.Publish("", "q", dated("another header", "eta", inFuture(time.Second)))
		b.ClearPolicy("p")
		ch.Publish("", "q", dated("after", "x-delay", int32(1000)))
		expectDrained(b, ch, "q", "before none another header after")
		b.Advance(time.Second + 2*ms)
		expectDrained(b, ch, "q", "held")
	})
}

// An invalid time is refused before the message is routed, and only if a queue on the route evaluates it.
func TestDLY10Refused(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		c := b.Connect()
		ch := c.Open()
		ch.Declare("plain", nil)
		ch.Declare("q", keepsScheduled)
		for _, name := range []string{"plain", "q"} {
			ch.Bind(name, "", "amq.fanout")
		}
		ch.Send("", "plain", dated("fine", "x-deliver-at", "soon"))
		expectDrained(b, ch, "plain", "fine")
		for _, row := range []struct {
			header string
			v      any
			text   string
			tx     bool
		}{
			{"x-delay", "soon", "invalid header 'x-delay': 'soon' is not an integer", false},
			{"x-deliver-at", "soon", "invalid header 'x-deliver-at': 'soon' is not a time: expected a timestamp, RFC 3339 text or milliseconds since 1970", false},
			{"x-deliver-at", int64(1_795_000_000), "invalid header 'x-deliver-at': 1795000000 is before 1973: expected milliseconds since 1970", true},
		} {
			bad := c.Open()
			if row.tx {
				if err := bad.Tx(); err != nil {
					t.Fatal(err)
				}
			}
			closed := bad.NotifyClose(make(chan *amqp.Error, 1))
			bad.Send("amq.fanout", "", dated("m", row.header, row.v))
			if err := testkit.Receive(b, closed); err == nil || err.Code != 406 || err.Reason != "PRECONDITION_FAILED - "+row.text {
				t.Errorf("%s %v: %v", row.header, row.v, err)
			}
		}
		expectDrained(b, ch, "plain", "")
		expectDrained(b, ch, "q", "")
	})
}

// Each queue on the route schedules or delivers independently; in a transaction, too.
func TestDLY8Fanout(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("now", nil)
		ch.Declare("soon", keepsScheduled)
		ch.Declare("later", amqp.Table{"x-delayed-messages": true, "x-deliver-at-header": "eta"})
		for _, name := range []string{"now", "soon", "later"} {
			ch.Bind(name, "", "amq.fanout")
		}
		if err := ch.Tx(); err != nil {
			t.Fatal(err)
		}
		m := dated("m", "eta", inFuture(5*time.Second))
		m.Headers["x-delay"] = int32(1000)
		ch.Send("amq.fanout", "", m)
		if err := ch.TxCommit(); err != nil {
			t.Fatal(err)
		}
		expectDrained(b, ch, "now", "m")
		b.AdvanceTo(1002 * ms)
		expectDrained(b, ch, "soon", "m")
		b.AdvanceTo(4999 * ms)
		expectDrained(b, ch, "later", "")
		b.AdvanceTo(5002 * ms)
		expectDrained(b, ch, "later", "m")
	})
}

// A message whose delay has passed is not held again by the queue to which it is dead-lettered: each publish with a delay is held
// once.
func TestDLY9DeadLetter(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", amqp.Table{"x-delayed-messages": true, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		ch.Declare("dead", keepsScheduled)
		ch.Send("", "q", dated("m", "x-delay", int32(1000)))
		b.AdvanceTo(1002 * ms)
		d, ok, err := ch.Get("q", false)
		if !ok || err != nil || d.Headers["x-delay"] != int64(-1000) {
			t.Fatalf("%+v, %v", d, err)
		}
		_ = d.Reject(false)
		synctest.Wait()
		if d := ch.Fetch("dead"); d == nil || d.Headers["x-delay"] != int64(-1000) || d.Headers["x-first-death-queue"] != "q" {
			t.Fatalf("%+v", d)
		}
		// A message rescheduled to be earlier than its date is not held by the next queue.
		ch.Send("", "q", dated("n", "x-deliver-at", inFuture(time.Hour)))
		synctest.Wait()
		if reschedules(b, b.Queue("q").PID, "n", time.Now()) != 1 {
			t.Error("not rescheduled")
		}
		synctest.Wait()
		if d, ok, err = ch.Get("q", false); !ok || err != nil || d.Headers["x-deliver-at"] == nil {
			t.Fatalf("%+v, %v", d, err)
		}
		_ = d.Reject(false)
		synctest.Wait()
		expectDrained(b, ch, "dead", "n")
	})
}

// Purge and delete drop scheduled messages, and count them; a lease ends in spite of them.
func TestDLY12EndOfScheduled(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		c := b.Connect()
		ch := c.Open()
		durable(b, ch, "q", keepsScheduled)
		stores(b, ch, "", "q", dated("a", "x-delay", int32(1000)), persistent("ready", ""))
		if n, err := ch.QueuePurge("q", false); n != 2 || err != nil {
			t.Errorf("%d purged, %v", n, err)
		}
		expectScheduled(b, "q", 0)
		b.Restart(0)
		ch = b.Connect().Open()
		b.Advance(2 * time.Second)
		expectDrained(b, ch, "q", "")
		stores(b, ch, "", "q", dated("a", "x-delay", int32(1000)))
		if n, err := ch.QueueDelete("q", false, false, false); n != 1 || err != nil {
			t.Errorf("%d deleted, %v", n, err)
		}
		ch.Declare("leased", amqp.Table{"x-delayed-messages": true, "x-expires": int32(500)})
		ch.Send("", "leased", dated("a", "x-delay", int32(60_000)))
		b.Advance(time.Second)
		if b.Queue("leased") != nil {
			t.Error("the queue outlived its lease")
		}
	})
}

// Listing, cancelling and rescheduling work across crashes and restarts.
func TestDLY14Restarts(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durable(b, ch, "q", keepsScheduled)
		for i := range 5 {
			stores(b, ch, "", "q", dated(fmt.Sprint("m", i), "x-delay", int32(10_000*(i+1))))
		}
		ch.Send("", "q", amqp.Publishing{Body: []byte("transient"), Headers: amqp.Table{"x-delay": int32(10_000)}})
		synctest.Wait()
		q := b.Queue("q").PID
		if cancels(b, q, 0, "m1") != 1 || reschedules(b, q, "m3", time.Now().Add(15*time.Second)) != 1 {
			t.Error("not changed")
		}
		b.Crash(0)
		q = b.Queue("q").PID
		if got := ids(b, q); got != "m0 m3 m2 m4" {
			t.Errorf("scheduled: %s", got)
		}
		p := page(b, q)
		if cancels(b, q, p.Messages[2].Seq, "") != 1 {
			t.Error("not cancelled")
		}
		b.Advance(12 * time.Second)
		b.Restart(4 * time.Second)
		ch = b.Connect().Open()
		expectDrained(b, ch, "q", "m0 m3")
		b.Advance(40 * time.Second)
		expectDrained(b, ch, "q", "m4")
		b.Restart(0)
		expectScheduled(b, "q", 0)
	})
}

// Messages that came due while the broker was down are treated as the queue is configured, at its release rate.
func TestDLY13Overdue(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("came due while the broker was down")
		ch := b.Connect().Open()
		durable(b, ch, "dead", nil)
		for _, what := range []string{"deliver", "dead-letter", "drop"} {
			durable(b, ch, what, amqp.Table{
				"x-delayed-messages": true, "x-overdue-messages": what, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
			})
			stores(b, ch, "", what, dated("before", "x-delay", int32(100)), dated("overdue", "x-delay", int32(60_000)), dated("after", "x-delay", int32(600_000)))
		}
		b.Advance(time.Second)
		b.Restart(5 * time.Minute)
		ch = b.Connect().Open()
		expectDrained(b, ch, "deliver", "before overdue")
		expectDrained(b, ch, "dead-letter", "before")
		expectDrained(b, ch, "drop", "before")
		b.Advance(10 * time.Minute)
		for _, what := range []string{"deliver", "dead-letter", "drop"} {
			expectDrained(b, ch, what, "after")
		}
		if d := ch.Fetch("dead"); d == nil || d.Headers["x-first-death-reason"] != "expired" || d.Headers["x-first-death-queue"] != "dead-letter" {
			t.Errorf("%+v", d)
		}
	})
}

func TestDLY13Rate(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		durable(b, ch, "q", keepsScheduled)
		for range 30 {
			stores(b, ch, "", "q", dated("m", "x-delay", int32(1000)))
		}
		b.SetPolicy("p", `{"pattern":"q","definition":{"release-rate":10}}`)
		b.Advance(2 * time.Second)
		if n := b.Describe("q").Ready; n < 9 || n > 12 {
			t.Errorf("%d in a second", n)
		}
		b.ClearPolicy("p")
		expectScheduled(b, "q", 0)
	})
}

// Messages held by a delayed exchange can be listed, cancelled and rescheduled, too.
func TestDLY11Exchange(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		delayed(b, ch, "x", "fanout", "q", "")
		for _, m := range []string{"a", "b", "c", "d"} {
			stores(b, ch, "x", "", dated(m, "x-delay", int32(60_000)))
		}
		holder := b.VHost().Directory().Exchange([]byte("x")).Holder().PID
		p := page(b, holder)
		if m := p.Messages[0]; len(p.Messages) != 4 || m.Exchange != "x" || m.MessageID != "a" || !m.Persistent || m.Due-m.Enqueued != 60_000 {
			t.Errorf("%+v", p.Messages)
		}
		if cancels(b, holder, p.Messages[0].Seq, "") != 1 || cancels(b, holder, 0, "b") != 1 || cancels(b, holder, 0, "b") != 0 {
			t.Error("not cancelled")
		}
		if reschedules(b, holder, "d", time.Now().Add(time.Second)) != 1 {
			t.Error("not rescheduled")
		}
		expectHeld(b, "x", 2)
		b.Advance(time.Second + 2*ms)
		expectDrained(b, ch, "q", "d")
		b.Restart(0)
		ch = b.Connect().Open()
		expectHeld(b, "x", 1)
		b.Advance(time.Minute)
		expectDrained(b, ch, "q", "c")
		expectHeld(b, "x", 0)
	})
}

// An exchange's argument or policy determines the treatment of messages that came due while the broker was down.
func TestDLY13Exchange(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("came due while the broker was down")
		ch := b.Connect().Open()
		if err := ch.ExchangeDeclare("x", "x-delayed-message", true, false, false, false, amqp.Table{
			"x-delayed-type": "fanout", "x-overdue-messages": "dead-letter",
		}); err == nil || !strings.Contains(err.Error(), "invalid arg 'x-overdue-messages' for exchange 'x' in vhost '/': invalid_overdue_messages") {
			t.Error(err)
		}
		ch = b.Connect().Open()
		if err := ch.ExchangeDeclare("dropping", "x-delayed-message", true, false, false, false, amqp.Table{
			"x-delayed-type": "fanout", "x-overdue-messages": "drop",
		}); err != nil {
			t.Fatal(err)
		}
		durable(b, ch, "d", nil)
		ch.Bind("d", "", "dropping")
		delayed(b, ch, "x", "fanout", "q", "")
		for _, x := range []string{"dropping", "x"} {
			for range 20 {
				stores(b, ch, x, "", dated("m", "x-delay", int32(60_000)))
			}
		}
		b.Restart(time.Hour)
		ch = b.Connect().Open()
		b.Advance(10 * ms) // until contents are read back
		expectDrained(b, ch, "d", "")
		expectDrained(b, ch, "q", strings.TrimSpace(strings.Repeat("m ", 20)))
		expectHeld(b, "dropping", 0)
		b.SetPolicy("p", `{"pattern":"x","definition":{"release-rate":5},"apply-to":"exchanges"}`)
		for range 20 {
			stores(b, ch, "x", "", dated("m", "x-delay", int32(1000)))
		}
		b.Advance(2 * time.Second)
		if n := holds(b, "x"); n < 13 || n > 16 {
			t.Errorf("%d are held after a second", n)
		}
		b.ClearPolicy("p")
		expectHeld(b, "x", 0)
	})
}
