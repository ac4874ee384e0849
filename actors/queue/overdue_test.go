package queue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
	"candlemark/protocol"
)

// TestRestart_DLY14: after a restart scheduled messages still wait, released ones are positioned by their due times, with their
// TTLs, and transient ones are gone.
func TestRestart_DLY14(t *testing.T) {
	c := durableCore(t, delaying)
	lost := heldBack("lost", 1000)
	setPersistent(&lost, false)
	c.publish(lost, heldBack("released", 200), withTTL(heldBack("mortal", 200), 5000), heldBack("waits", 9000), heldBack("moved", 50_000))
	c.rescheduled(0, "id moved", 8000)
	c.at(100)
	c.trust(-1, "before")
	c.at(300)
	c.trust(-1, "behind")
	c.want("ready", c.ready(), "before", "released", "mortal", "behind")
	c = c.restarted(0, delaying, dlx)
	c.want("ready", c.ready(), "before", "released", "mortal", "behind")
	c.want("scheduled", c.pages(10), "moved 8000", "waits 9000")
	c = c.restarted(0, delaying, dlx)
	c.at(5199)
	c.want("dead", c.seenOff())
	c.at(5200)
	c.want("dead", c.seenOff(), "expired mortal")
	if c.cancelled(0, "id waits") != 1 {
		t.Error("message-id is forgotten")
	}
	c = c.restarted(0, delaying)
	c.at(20_000)
	c.want("ready", c.ready(), "before", "released", "behind", "moved")
	c.consume(ch1, "x", 0)
	for i, d := range one[*mail.Deliver](c).Items {
		if o := d.Message.Overlay; i%2 == 1 && (o == nil || o.Delayed == 0 || !o.Held) {
			t.Errorf("%s: %+v", d.Message.Body, o)
		}
	}
}

// TestOverdue_DLY13: the policy applies only to messages that became due while the broker was down.
func TestOverdue_DLY13(t *testing.T) {
	for _, tt := range []struct {
		policy string
		dead   []string
		ready  []string
	}{
		{policies.OverdueDeliver, nil, []string{"before", "due", "due too"}},
		{policies.OverdueDeadLetter, []string{"expired due", "expired due too"}, []string{"before"}},
		{policies.OverdueDrop, nil, []string{"before"}},
	} {
		c := durableCore(t, delaying)
		c.publish(heldBack("due too", 2000), heldBack("due", 1000), heldBack("before", 100), heldBack("later", 100_000))
		c.at(200)
		c = c.restarted(10_000, delaying, dlx, overdue(tt.policy))
		c.want(tt.policy, c.seenOff(), tt.dead...)
		c.want(tt.policy, c.ready(), tt.ready...)
		c.publish(heldBack("new", 50))
		c.rescheduled(0, "id later", 100)
		c.at(11_000)
		c.want(tt.policy+", new", c.ready(), append(tt.ready, "later", "new")...)
		if n := len(c.disk.puts); n != len(c.ready()) {
			t.Errorf("%d messages on disk", n)
		}
	}
}

// TestOverdueExpires_DLY13: an overdue message whose TTL has passed, too, expires under any policy.
func TestOverdueExpires_DLY13(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(withTTL(heldBack("m", 1000), 500))
	c = c.restarted(10_000, delaying, dlx)
	c.want("dead", c.seenOff(), "expired m")
}

// TestRevived_DLY13: after a panic no message is overdue, since the broker was not down.
func TestRevived_DLY13(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(heldBack("m", 1000))
	cfg := testConfig(settings(delaying, overdue(policies.OverdueDrop)))
	cfg.Queue.Durable, cfg.Recovered, cfg.Revived = true, c.disk.survivors(), true
	next := &core{t: t, now: c.now + 2e9, disk: c.disk}
	next.init(&cfg, queuePID, next.now)
	next.feed(again{})
	next.want("ready", next.ready(), "m")
}

// TestReleaseRate_DLY13: overdue messages are released evenly and in order, at most at the given rate.
func TestReleaseRate_DLY13(t *testing.T) {
	for _, n := range []int64{1, 7, 100, 5000} {
		c := durableCore(t, delaying)
		var batch []message.Message
		total := int(min(3*n, 9000))
		for i := range total {
			batch = append(batch, heldBack(fmt.Sprintf("%05d", i), 1000))
		}
		c.publish(batch...)
		c = c.restarted(60_000, delaying, rate(n))
		if s := c.info().Scheduled; s.Overdue != s.Count || s.Count < total-int(max(n/100, 1)) {
			t.Errorf("%d/s: %+v at the start", n, s)
		}
		for second := int64(1); c.Scheduled.Len() > 0; second++ {
			c.at(60_000 + second*1000)
			if got, most := int64(len(c.ready())), second*n+max(n/100, 1); got > most || got < min(second*n*9/10, int64(total)) {
				t.Fatalf("%d/s: %d messages after %d s", n, got, second)
			}
		}
		if got := c.ready(); len(got) != total || !slices.IsSorted(got) {
			t.Errorf("%d/s: %d messages, or not in order", n, len(got))
		}
	}
}

// chaos is a queue with scheduled messages, and maps of their due times.
type chaos struct {
	*core
	r       *rand.Rand
	tight   bool
	next    int
	waiting map[string]int64
	came    map[string]int64 // released messages with their due times
}

// some returns the name of a random waiting message.
func (x *chaos) some() (name string, ok bool) {
	names := slices.Sorted(maps.Keys(x.waiting))
	if len(names) == 0 {
		return "none", false
	}
	return names[x.r.IntN(len(names))], true
}

// pass records the messages released by now.
func (x *chaos) pass() {
	for name, due := range x.waiting {
		if due <= x.ms() {
			x.came[name] = due
			delete(x.waiting, name)
		}
	}
}

func (x *chaos) step() {
	x.tight = x.r.IntN(3) == 0
	switch n := x.r.IntN(20); {
	case n < 9:
		name, delay := fmt.Sprintf("m%d", x.next), 1+x.r.Int64N(5000)
		x.next++
		x.waiting[name] = x.ms() + delay
		x.publish(heldBack(name, delay))
	case n < 11:
		name, there := x.some()
		if got := x.cancelled(0, "id "+name); (got == 1) != there {
			x.t.Fatalf("%d cancelled", got)
		}
		delete(x.waiting, name)
	case n < 13:
		if name, there := x.some(); there {
			x.waiting[name] = x.ms() + 1 + x.r.Int64N(5000) // a message due in the ms of a restart would be overdue
			if x.rescheduled(x.seqOf(name), "", x.waiting[name]) != 1 {
				x.t.Fatal("not rescheduled")
			}
		}
	case n < 14:
		x.core = x.restarted(x.r.Int64N(100), delaying)
	default:
		x.at(x.ms() + x.r.Int64N(300))
	}
	x.pass()
	if got := x.info().Scheduled.Count; got != len(x.waiting) {
		x.t.Fatalf("%d ms: %d scheduled, want %d", x.ms(), got, len(x.waiting))
	}
}

// TestRandom_DLY14 runs random commands, with restarts, and compares the results with a map.
func TestRandom_DLY14(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	x := &chaos{core: durableCore(t, delaying), r: rand.New(rand.NewPCG(seed, 1)), waiting: map[string]int64{}, came: map[string]int64{}}
	x.pressed = func() bool { return x.tight }
	for range 3000 {
		x.step()
	}
	x.at(x.ms() + 10_000)
	x.pass()
	ready := x.ready()
	if len(ready) != len(x.came) {
		t.Fatalf("%d messages came, want %d", len(ready), len(x.came))
	}
	last := int64(0)
	for _, name := range ready {
		if x.came[name] < last {
			t.Fatalf("%s, due at %d, came after what was due at %d", name, x.came[name], last)
		}
		last = x.came[name]
	}
}

// TestPressed_DLY14: contents of existing and new messages are paged out, and a release does not need them; transient messages
// are lost in a restart.
func TestPressed_DLY14(t *testing.T) {
	c := durableCore(t, delaying)
	tight := false
	c.pressed = func() bool { return tight }
	transient := func(body string) message.Message {
		m := heldBack(body, 1000)
		setPersistent(&m, false)
		return m
	}
	c.publish(heldBack("a", 1000), transient("b"))
	tight = true
	c.feed(&mail.Trim{})
	c.publish(heldBack("c", 1000), transient("d"))
	if info := c.info(); info.Paged != 4 || c.Scheduled.Messages.Backlog.Contents() != 0 {
		t.Errorf("%d of 4 are paged out, %d bytes are left", info.Paged, c.Scheduled.Messages.Backlog.Contents())
	}
	c.want("scheduled", c.pages(3), "a 1000", "b 1000", "c 1000", "d 1000")
	c.at(1000)
	if info := c.info(); info.Ready != 4 || info.Paged != 4 {
		t.Errorf("%+v", info)
	}
	c.feed(&mail.Peek{Request: mail.Request{ReplyTo: ch1}})
	for _, m := range one[*mail.PeekReply](c).Messages {
		p, _ := protocol.DecodeProperties(m.Header)
		if v, _ := p.Headers.Get("x-delay"); v != int64(-1000) {
			t.Errorf("%s is shown with x-delay %v", m.Body, v)
		}
	}
	c.consume(ch1, "x", 0)
	c.want("delivered", c.delivered("x"), "a", "b", "c", "d")
	c.settle(ch1, mail.Ack, 1, 4)
	c.publish(heldBack("kept", 1000), transient("lost"))
	c = c.restarted(0, delaying)
	c.want("scheduled", c.pages(3), "kept 2000")
}

// TestReleasedOnItsWay_DLY14: a message released before it is in the journal is still found there afterwards.
func TestReleasedOnItsWay_DLY14(t *testing.T) {
	c := durableCore(t, delaying)
	c.hold = true
	c.publish(heldBack("m", 1))
	c.at(1)
	c.want("ready", c.ready(), "m")
	c.settleCommit()
	h, _ := c.Backlog.First()
	if c.Backlog.Place(h) == 0 {
		t.Error("nobody knows where it is")
	}
	c.hold = false
	c = c.restarted(0, delaying)
	c.want("ready", c.ready(), "m")
}
