package queue

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

func delaying(s *policies.QueueSettings) { s.DelayedMessages = true }

func overdue(what string) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.OverdueMessages = what }
}

func rate(n int64) func(*policies.QueueSettings) {
	return func(s *policies.QueueSettings) { s.ReleaseRate = n }
}

// titled returns a persistent message with headers and the message-id "id body".
func titled(body string, headers ...any) message.Message {
	var table protocol.Table
	for i := 0; i < len(headers); i += 2 {
		table = append(table, protocol.Field{Key: headers[i].(string), Value: headers[i+1]})
	}
	m := msg(body, message.NoTTL)
	m.Header = protocol.Properties{Flags: protocol.FlagHeaders | protocol.FlagMessageID, Headers: table, MessageID: "id " + body}.Append(nil)
	setPersistent(&m, true)
	return m
}

// heldBack is titled with an x-delay.
func heldBack(body string, ms int64) message.Message { return titled(body, "x-delay", ms) }

func withTTL(m message.Message, ttl int64) message.Message {
	m.TTL = ttl
	return m
}

// pages lists the scheduled messages as "body due", by pages of a given size.
func (c *core) pages(limit int) (list []string) {
	c.t.Helper()
	m := &mail.ListScheduled{Request: mail.Request{ReplyTo: ch1}, Limit: limit}
	for {
		c.feed(m)
		page := one[*mail.ScheduledPage](c)
		if page.Err != nil || len(page.Messages) > limit {
			c.t.Fatalf("%d messages, %v", len(page.Messages), page.Err)
		}
		for _, x := range page.Messages {
			if x.Unreadable || x.RoutingKey != "k" || x.Bytes != int64(len(x.MessageID)-3) {
				c.t.Errorf("%+v", x)
			}
			list = append(list, fmt.Sprint(strings.TrimPrefix(x.MessageID, "id "), " ", x.Due-start))
		}
		if page.Next == nil {
			return list
		}
		m.After = *page.Next
	}
}

// seqOf returns the number of a scheduled message.
func (c *core) seqOf(body string) uint64 {
	c.t.Helper()
	c.feed(&mail.ListScheduled{Request: mail.Request{ReplyTo: ch1}})
	for _, x := range one[*mail.ScheduledPage](c).Messages {
		if x.MessageID == "id "+body {
			return x.Seq
		}
	}
	c.t.Fatalf("%s is not scheduled", body)
	return 0
}

func (c *core) changed() int {
	c.t.Helper()
	r := one[*mail.ChangeScheduledReply](c)
	if r.Err != nil {
		c.t.Fatal(r.Err)
	}
	return r.Count
}

func (c *core) cancelled(seq uint64, id string) int {
	c.t.Helper()
	c.feed(&mail.ChangeScheduled{Cancel: true, Request: mail.Request{ReplyTo: ch1}, Seq: seq, MessageID: id})
	return c.changed()
}

func (c *core) rescheduled(seq uint64, id string, ms int64) int {
	c.t.Helper()
	c.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Seq: seq, MessageID: id, Due: start + ms})
	return c.changed()
}

func (c *core) info() *mail.QueueInfo {
	c.t.Helper()
	c.feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}})
	return one[*mail.QueueInfo](c)
}

// restarted returns the queue after a restart that takes off ms, with the content of its disk.
func (c *core) restarted(off int64, change ...func(*policies.QueueSettings)) *core {
	cfg := testConfig(settings(change...))
	cfg.Queue.Durable, cfg.Recovered, cfg.Newest = true, c.disk.survivors(), c.Seq
	next := &core{t: c.t, now: c.now + clock.Instant(off*int64(time.Millisecond)), disk: c.disk, pressed: c.pressed, number: c.number}
	next.init(&cfg, queuePID, next.now)
	next.feed(again{})
	return next
}

// TestScheduled_DLY8: a message with a time is confirmed at once, and delivered at that time, not before.
func TestScheduled_DLY8(t *testing.T) {
	for _, tt := range []struct {
		name   string
		m      message.Message
		header string
		due    int64
	}{
		{"x-delay", heldBack("m", 500), "", 500},
		{"x-deliver-at", titled("m", "x-deliver-at", int64(start+700)), "", 700},
		{"timestamp", titled("m", "x-deliver-at", protocol.Timestamp(start/1000+2)), "", 2000},
		{"another header", titled("m", "eta", "2027-01-15T08:00:00.300000+00:00"), "eta", 300},
	} {
		for _, pressed := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " ", pressed), func(t *testing.T) {
				c := durableCore(t, delaying, func(s *policies.QueueSettings) { s.DeliverAtHeader = tt.header })
				c.pressed = func() bool { return pressed }
				c.consume(ch1, "x", 0)
				c.publish(tt.m)
				acks, _ := c.confirmed()
				c.wantNumbers("confirmed", acks, 1)
				info := c.info()
				if info.Ready != 0 || info.Scheduled.Count != 1 || info.Scheduled.Bytes != 1 || info.Scheduled.NextDue != start+tt.due {
					t.Errorf("%+v", info)
				}
				c.get(ch2)
				if c.at(tt.due - 1); len(c.delivered("x")) > 0 {
					t.Error("it came early")
				}
				c.at(tt.due)
				c.want("delivered", c.delivered("x"), "m")
				if info := c.info(); info.Scheduled.Count != 0 || info.Unacked != 1 {
					t.Errorf("%+v", info)
				}
			})
		}
	}
}

// TestNotScheduled_DLY8: a message without a valid future time is delivered at once.
func TestNotScheduled_DLY8(t *testing.T) {
	was := heldBack("m", 500)
	was.Overlay = &message.Overlay{Held: true}
	for _, tt := range []struct {
		name string
		m    message.Message
		on   bool
	}{
		{"a queue without the setting", heldBack("m", 500), false},
		{"held before", was, true},
		{"negative", heldBack("m", -500), true},
		{"past", titled("m", "x-deliver-at", int64(start-1)), true},
		{"cannot be made out", titled("m", "x-deliver-at", "soon"), true},
		{"another header that is not asked for", titled("m", "eta", int64(start+500)), true},
		{"no headers", msg("m", -1), true},
	} {
		c := durableCore(t, func(s *policies.QueueSettings) { s.DelayedMessages = tt.on })
		c.publish(tt.m)
		c.want(tt.name, c.ready(), "m")
	}
}

// TestReleaseOrder_DLY9: messages are released in order of due time, then of arrival, behind existing ones.
func TestReleaseOrder_DLY9(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying)
		c.pressed = func() bool { return pressed }
		c.publish(heldBack("c", 300), heldBack("a", 100), heldBack("b", 200), heldBack("d", 300), heldBack("z", 400))
		c.put("first")
		if c.rescheduled(c.seqOf("z"), "", 300) != 1 {
			t.Error("not rescheduled")
		}
		c.at(250)
		c.want("ready", c.ready(), "first", "a", "b")
		c.put("last")
		c.at(400)
		c.want("ready", c.ready(), "first", "a", "b", "last", "c", "d", "z")
	}
}

// TestReleaseBeforeTheTimer_DLY9: a due message comes before one published after its due time, even if the timer is late.
func TestReleaseBeforeTheTimer_DLY9(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(heldBack("due", 100))
	c.now += clock.Instant(150 * time.Millisecond)
	c.put("new")
	c.want("ready", c.ready(), "due", "new")
}

// TestTTLBeginsWhenDue_DLY9: the TTLs of the message and the queue start at the due time.
func TestTTLBeginsWhenDue_DLY9(t *testing.T) {
	c := durableCore(t, delaying, dlx, ttl(80))
	c.publish(withTTL(heldBack("own", 1000), 50), heldBack("queue's", 1000))
	c.at(1049)
	c.want("ready", c.ready(), "own", "queue's")
	c.at(1050)
	c.want("dead", c.seenOff(), "expired own")
	c.at(1080)
	c.want("dead", c.seenOff(), "expired queue's")
}

// TestTTL0_DLY9: a TTL of 0 applies at the due time (TTL-20), whether the content is in memory or not.
func TestTTL0_DLY9(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying, dlx)
		c.pressed = func() bool { return pressed }
		c.publish(
			withTTL(heldBack("never", 100), 0), withTTL(heldBack("now", 200), 0), withTTL(heldBack("now too", 200), 0),
			heldBack("behind", 200), withTTL(heldBack("damaged", 300), 0), withTTL(heldBack("last", 300), 0),
		)
		c.at(150)
		c.want("dead", c.seenOff(), "expired never")
		c.consume(ch1, "x", 0)
		c.at(200)
		c.want("delivered", c.delivered("x"), "now", "now too", "behind")
		if pressed {
			c.damage("damaged", store.ErrDamaged)
			c.at(300)
			c.want("delivered", c.delivered("x"), "last")
		}
	}
	c := durableCore(t, delaying)
	c.publish(withTTL(heldBack("overdue", 100), 0), withTTL(heldBack("m", 60_000), 0))
	c = c.restarted(1000, delaying, dlx)
	c.want("dead", c.seenOff(), "expired overdue")
	c.consume(ch1, "x", 0)
	c.at(60_000)
	c.want("delivered", c.delivered("x"), "m")
}

// TestReleasedOnce_DLY9: consumers and dead letters get −x-delay, and the message is not scheduled again.
func TestReleasedOnce_DLY9(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying, dlx)
		c.pressed = func() bool { return pressed }
		c.publish(heldBack("m", 100))
		c.consume(ch1, "x", 1)
		c.at(100)
		check := func(o *message.Overlay, header []byte) {
			raw, err := o.Header(header)
			p, _ := protocol.DecodeProperties(raw)
			if v, _ := p.Headers.Get("x-delay"); err != nil || v != int64(-100) || !o.Held {
				t.Errorf("%+v, %v", p.Headers, err)
			}
		}
		first := one[*mail.Deliver](c).Items[0]
		check(first.Message.Overlay, first.Message.Header)
		c.settle(ch1, mail.Requeue, 1, 1)
		again := one[*mail.Deliver](c).Items[0]
		check(again.Message.Overlay, again.Message.Header)
		c.settle(ch1, mail.Reject, 2, 2)
		dead := one[*mail.DeadLetter](c).Messages[0]
		check(dead.Overlay, dead.Header)
	}
}

// TestNoLimit_DLY8: scheduled messages do not count towards limits; released ones do.
func TestNoLimit_DLY8(t *testing.T) {
	c := durableCore(t, delaying, dlx, maxLength(2, ""))
	c.publish(heldBack("a", 100), heldBack("b", 100), heldBack("c", 100))
	c.put("d", "e")
	c.want("dead", c.seenOff())
	c.at(100)
	c.want("dead", c.seenOff(), "maxlen d", "maxlen e", "maxlen a")
	c = durableCore(t, delaying, dlx, maxLength(1, "reject-publish"))
	c.put("d")
	c.publish(heldBack("a", 100), heldBack("b", 100))
	_, nacks := c.confirmed()
	c.wantNumbers("refused", nacks)
	c.at(100)
	c.want("what was confirmed comes in", c.ready(), "d", "a", "b")
}

// TestPriority_DLY9: messages are released by priority.
func TestPriority_DLY9(t *testing.T) {
	c := durableCore(t, delaying, func(s *policies.QueueSettings) { s.MaxPriority = 5 })
	high := heldBack("high", 200)
	high.Priority = 9
	c.publish(heldBack("low", 100), high)
	if c.cancelled(c.seqOf("high"), "") != 1 {
		t.Error("not found")
	}
	high.Body = []byte("high")
	c.publish(high)
	c.at(300)
	c.want("ready", c.ready(), "high", "low")
}

// TestSettingIsTakenAway_DLY8: scheduled messages stay scheduled.
func TestSettingIsTakenAway_DLY8(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(heldBack("a", 100))
	c.feed(&mail.Configure{Settings: settings()})
	c.publish(heldBack("b", 100))
	c.want("ready", c.ready(), "b")
	c.at(100)
	c.want("ready", c.ready(), "b", "a")
}

// TestPurge_DLY12: a purge removes scheduled messages with the ready ones, in memory and in the journal.
func TestPurge_DLY12(t *testing.T) {
	c := durableCore(t, delaying)
	for n := range 9000 {
		c.publish(heldBack(fmt.Sprint(n), int64(10_000+n%7)))
	}
	c.put("ready")
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	if n := one[*mail.PurgeReply](c).MessageCount; n != 9001 {
		t.Errorf("%d messages", n)
	}
	if len(c.disk.puts) != 0 || c.Scheduled.Len() > 0 {
		t.Errorf("%d messages are left on disk", len(c.disk.puts))
	}
	c.publish(heldBack("new", 100))
	c.at(20_000)
	c.want("ready", c.ready(), "new")
}

// TestDelete_DLY12: scheduled messages prevent only a delete with if-empty.
func TestDelete_DLY12(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(heldBack("a", 100), heldBack("b", 100))
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}, IfEmpty: true})
	if err := one[*mail.DeleteQueueReply](c).Err; code(err) != "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty" {
		t.Error(err)
	}
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}}, &mail.QueueForgotten{})
	if n := one[*mail.DeleteQueueReply](c).MessageCount; n != 2 || c.phase != ended || len(c.disk.puts) != 0 {
		t.Errorf("%d messages, phase %d, %d on disk", n, c.phase, len(c.disk.puts))
	}
}

// TestLease_DLY12: scheduled messages do not hold the lease, unless the settings say so.
func TestLease_DLY12(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*policies.QueueSettings)
		stays  bool
	}{
		{"by default", func(*policies.QueueSettings) {}, false},
		{"expires-if-empty", func(s *policies.QueueSettings) { s.ExpiresIfEmpty = true }, true},
		{"expires-renewed-by", func(s *policies.QueueSettings) { s.RenewedBy = policies.RenewedByScheduled }, true},
	} {
		c := durableCore(t, delaying, expires(1000), tt.change)
		c.publish(heldBack("m", 5000))
		if c.at(2500); (c.phase == live) != tt.stays {
			t.Errorf("%s: phase %d", tt.name, c.phase)
		}
	}
	c := durableCore(t, delaying, dlx, expires(1000), func(s *policies.QueueSettings) { s.ExpiresDeadLettersBacklog = true })
	c.publish(heldBack("b", 6000), heldBack("a", 5000), msg("ready", -1))
	c.at(1000)
	c.vhostAnswers()
	c.want("dead", c.seenOff(), "expired ready", "expired a", "expired b")
	if c.vhostAnswers(); c.phase != ended {
		t.Errorf("phase %d", c.phase)
	}
}

// TestList_DLY11: paging lists every message once, in the order of release.
func TestList_DLY11(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying)
		c.pressed = func() bool { return pressed }
		want := map[string]int64{}
		var batch []message.Message
		for n := range int64(300) {
			body := fmt.Sprint("m", n)
			want[body] = 1000 + n*7%50
			batch = append(batch, heldBack(body, want[body]))
		}
		c.publish(batch...)
		for _, limit := range []int{1, 7, 300, 1000} {
			list := c.pages(limit)
			last, seen := int64(0), map[string]bool{}
			for _, x := range list {
				var body string
				var due int64
				_, _ = fmt.Sscan(x, &body, &due)
				if due < last || want[body] != due || seen[body] {
					t.Fatalf("%s after %d", x, last)
				}
				last, seen[body] = due, true
			}
			if len(list) != 300 {
				t.Errorf("%d messages in pages of %d", len(list), limit)
			}
		}
	}
}

// TestCounts_DLY11: each message is in one part of the histogram.
func TestCounts_DLY11(t *testing.T) {
	c := durableCore(t, delaying)
	for _, ms := range []int64{1, 1000, 1001, 60_000, 60_001, 3_600_000, 86_400_000, 86_400_001, 10 * 86_400_000} {
		c.publish(heldBack("m", ms))
	}
	want := mail.ScheduledCounts{Count: 9, Bytes: 9, NextDue: start + 1, Within: [5]int{2, 2, 2, 1, 2}}
	if got := c.info().Scheduled; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestRearrange_DLY11: messages are cancelled and rescheduled by number or message-id, in memory or not.
func TestRearrange_DLY11(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying)
		c.pressed = func() bool { return pressed }
		c.publish(heldBack("a", 1000), heldBack("b", 2000), heldBack("c", 3000), heldBack("b", 4000))
		seq := c.seqOf("c")
		for _, n := range []int{c.cancelled(seq+99, ""), c.cancelled(0, "id x"), c.cancelled(0, ""), c.rescheduled(seq+99, "", 1)} {
			if n != 0 {
				t.Errorf("%d messages that are not there were changed", n)
			}
		}
		if c.cancelled(0, "id b") != 2 || c.cancelled(0, "id b") != 0 {
			t.Error("not cancelled by message-id")
		}
		c.want("scheduled", c.pages(10), "a 1000", "c 3000")
		if c.rescheduled(0, "id c", 500) != 1 || c.rescheduled(c.seqOf("a"), "", 700) != 1 {
			t.Error("not rescheduled")
		}
		c.want("scheduled", c.pages(10), "c 500", "a 700")
		if c.cancelled(seq, "") != 1 || c.cancelled(seq, "") != 0 || len(c.disk.puts) != 1 {
			t.Error("not cancelled by number")
		}
		if c.at(600); c.rescheduled(c.seqOf("a"), "", 100) != 1 {
			t.Error("not rescheduled")
		}
		c.want("ready at once", c.ready(), "a")
		if len(c.reasonsOf()) != 3 || slices.Contains(c.reasonsOf(), store.Acked) {
			t.Error(c.reasonsOf())
		}
	}
}

// TestRearrangedFar_DLY11: due times beyond 10 years are refused.
func TestRearrangedFar_DLY11(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(heldBack("a", 1000))
	for _, skew := range []int64{0, -700} {
		c.Dates = clock.Ahead(skew) // the clock was set back
		for _, due := range []int64{0, -1, start + 315_360_000_001, math.MaxInt64} {
			c.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Seq: c.seqOf("a"), Due: due})
			if err := one[*mail.ChangeScheduledReply](c).Err; !strings.Contains(code(err), "invalid due time") {
				t.Errorf("%d, skew %d: %v", due, skew, err)
			}
		}
	}
}

// TestRearrangeIsDurable_DLY11: the answer waits for the journal, and is an error if that fails.
func TestRearrangeIsDurable_DLY11(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(heldBack("a", 1000), heldBack("b", 1000))
	c.hold = true
	c.feed(&mail.ChangeScheduled{Cancel: true, Request: mail.Request{ReplyTo: ch1}, MessageID: "id a"})
	if got := all[*mail.ChangeScheduledReply](c); len(got) != 0 {
		t.Error("answered before it is durable")
	}
	c.settleCommit()
	if c.changed() != 1 {
		t.Error("not answered")
	}
	c.disk.err = store.ErrClosed
	c.feed(&mail.ChangeScheduled{Cancel: true, Request: mail.Request{ReplyTo: ch1}, MessageID: "id b"})
	c.settleCommit()
	if r := one[*mail.ChangeScheduledReply](c); r.Err == nil {
		t.Error("no failure is reported")
	}
}

// TestScheduledIsNeverEarly_DLY9: a due time between two milliseconds is rounded up, and a get before it finds nothing.
func TestScheduledIsNeverEarly_DLY9(t *testing.T) {
	c := newCore(t, delaying)
	c.now += clock.Instant(300 * time.Microsecond) // the delay is over at 101 ms, not 100
	c.publish(heldBack("m", 100))
	c.now = clock.Instant((start+101)*int64(time.Millisecond) - 1)
	c.feed(timerFired{})
	if r := c.get(ch1); !r.Empty {
		t.Fatal("1 ns early")
	}
	c.now++
	if r := c.get(ch1); r.Empty {
		t.Fatal("it is not there when it is due")
	}
}
