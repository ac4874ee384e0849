package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/queue/content"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies/retry"
	"candlemark/protocol"
)

// sweeps carries out a command with a filter to its end, as its sender does, and counts its turns.
func (c *core) sweeps(m mail.ChangeScheduled) (count, turns int) {
	c.t.Helper()
	filter := *m.Filter
	for {
		m.ReplyTo, m.Filter = ch1, &filter
		c.feed(&m)
		r := one[*mail.ChangeScheduledReply](c)
		if r.Err != nil || r.Unreadable != 0 {
			c.t.Fatal(r.Err, r.Unreadable)
		}
		count, turns = count+r.Count, turns+1
		if r.Next == nil {
			return count, turns
		}
		filter.From = r.Next
	}
}

func (c *core) sweepsAway(f mail.ScheduledFilter) int {
	c.t.Helper()
	count, _ := c.sweeps(mail.ChangeScheduled{Cancel: true, Filter: &f})
	return count
}

func (c *core) sweepsTo(ms int64, f mail.ScheduledFilter) int {
	c.t.Helper()
	count, _ := c.sweeps(mail.ChangeScheduled{Due: start + ms, Filter: &f})
	return count
}

// TestFilter_DLY17: the messages that meet all conditions are changed, in memory or not, and no others.
func TestFilter_DLY17(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying)
		c.pressed = func() bool { return pressed }
		with := func(body string, ms int64, correlation string, headers ...any) message.Message {
			m := titled(body, append([]any{"x-delay", ms}, headers...)...)
			p, _ := protocol.DecodeProperties(m.Header)
			p.CorrelationID, p.Flags = correlation, p.Flags|protocol.FlagCorrelationID
			m.Header = p.Append(nil)
			return m
		}
		deep := protocol.Table{{Key: "list", Value: protocol.Array{int32(1), "x", protocol.Table{{Key: "y", Value: true}}}}}
		c.publish(
			with("a", 1000, "c1", "tenant", "one", "n", int32(5)), with("b", 2000, "c1", "tenant", "two", "n", int64(5)),
			with("c", 3000, "c2", "tenant", []byte("one"), "deep", deep), with("d", 3000, "", "n", 5.0, "none", nil), heldBack("e", 4000),
		)
		header := func(key string, v any) protocol.Table { return protocol.Table{{Key: key, Value: v}} }
		for _, row := range []struct {
			f    mail.ScheduledFilter
			want int
		}{
			{mail.ScheduledFilter{MessageID: "id a"}, 1},
			{mail.ScheduledFilter{MessageID: "a"}, 0},
			{mail.ScheduledFilter{CorrelationID: "c1"}, 2},
			{mail.ScheduledFilter{CorrelationID: "c1", MessageID: "id b"}, 1},
			{mail.ScheduledFilter{CorrelationID: "c2", MessageID: "id b"}, 0},
			{mail.ScheduledFilter{Headers: header("tenant", "one")}, 2},
			{mail.ScheduledFilter{Headers: header("n", int64(5))}, 2},
			{mail.ScheduledFilter{Headers: header("n", 5.0)}, 1},
			{mail.ScheduledFilter{Headers: header("n", "5")}, 0},
			{mail.ScheduledFilter{Headers: header("none", nil)}, 1},
			{mail.ScheduledFilter{Headers: header("deep", deep)}, 1},
			{mail.ScheduledFilter{Headers: header("deep", "x")}, 0},
			{mail.ScheduledFilter{Headers: append(header("tenant", "one"), header("n", int64(5))...)}, 1},
			{mail.ScheduledFilter{DueFrom: start + 3000}, 3},
			{mail.ScheduledFilter{DueFrom: start + 3001}, 1},
			{mail.ScheduledFilter{DueBefore: start + 3000}, 2},
			{mail.ScheduledFilter{DueFrom: start + 2000, DueBefore: start + 3001}, 3},
			{mail.ScheduledFilter{DueFrom: start + 3000, DueBefore: start + 2000}, 0},
			{mail.ScheduledFilter{DueFrom: start + 2000, Headers: header("tenant", "one")}, 1},
			{mail.ScheduledFilter{DueFrom: 1, Retries: true}, 0},
		} {
			row.f.Look = true
			if got := c.sweepsAway(row.f); got != row.want {
				t.Errorf("pressed %v, %+v: %d, want %d", pressed, row.f, got, row.want)
			}
		}
		if n := c.sweepsTo(2500, mail.ScheduledFilter{CorrelationID: "c1"}); n != 2 {
			t.Errorf("%d rescheduled", n)
		}
		c.want("scheduled", c.pages(10), "a 2500", "b 2500", "c 3000", "d 3000", "e 4000")
		if n := c.sweepsTo(2500, mail.ScheduledFilter{DueFrom: 1}); n != 3 {
			t.Errorf("%d rescheduled, of which 2 had that time", n)
		}
		if n := c.sweepsAway(mail.ScheduledFilter{Headers: header("tenant", "one")}); n != 2 {
			t.Errorf("%d cancelled", n)
		}
		c.want("scheduled", c.pages(10), "b 2500", "d 2500", "e 2500")
		if why := c.reasonsOf(); !slices.Equal(why, []store.Reason{store.Cancelled, store.Cancelled}) {
			t.Error(why)
		}
		c = c.restarted(2000, delaying)
		c.want("scheduled after a restart", c.pages(10), "b 2500", "d 2500", "e 2500")
		if n := c.sweepsTo(1, mail.ScheduledFilter{DueFrom: 1}); n != 3 { // in the past
			t.Errorf("%d rescheduled", n)
		}
		c.at(2001) // a message due at 2000 would be overdue
		c.want("ready at once", c.ready(), "b", "d", "e")
	}
}

// TestFilterInTurns_DLY17: a filter examines a turn's limit of messages at a time. Each message is counted once, though it
// moves to where the filter comes by later, and messages that arrive during the command do not count.
func TestFilterInTurns_DLY17(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		c := durableCore(t, delaying)
		c.turnLimit = uint16(1 + r.IntN(7))
		c.pressed = func() bool { return r.IntN(2) == 0 }
		n := 1 + r.IntN(60)
		for i := range n {
			c.publish(heldBack(fmt.Sprint(i), 1+r.Int64N(50)))
		}
		to, from := 1+r.Int64N(60), r.Int64N(50)
		want := 0
		for _, line := range c.pages(100) {
			var body string
			var due int64
			if _, _ = fmt.Sscan(line, &body, &due); due >= from && due != to {
				want++
			}
		}
		f := mail.ScheduledFilter{DueFrom: start + from}
		look := f
		look.Look = true
		if got := c.sweepsTo(to, look); got != want {
			t.Fatalf("%d of %d would be rescheduled from %d to %d, want %d", got, n, from, to, want)
		}
		got, turns := c.sweeps(mail.ChangeScheduled{Due: start + to, Filter: &f})
		if got != want || turns < want/int(c.turnLimit) {
			t.Fatalf("%d of %d rescheduled from %d to %d in %d turns, want %d", got, n, from, to, turns, want)
		}
		first := mail.ScheduledFilter{DueFrom: 1}
		c.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Cancel: true, Filter: &first})
		reply := one[*mail.ChangeScheduledReply](c)
		c.publish(heldBack("late", 1000))
		if reply.Next != nil {
			first.From = reply.Next
			if rest := c.sweepsAway(first); rest+reply.Count != n {
				t.Fatalf("%d and %d cancelled of %d", reply.Count, rest, n)
			}
		}
		c.want("scheduled", c.pages(10), "late 1000")
	}
}

// TestFilterIsBounded_DLY17: a turn reads and examines a bounded number of bytes, whatever the size of properties and bodies.
func TestFilterIsBounded_DLY17(t *testing.T) {
	large := strings.Repeat("x", 100_000)
	for name, row := range map[string]struct {
		pressed bool
		m       message.Message
	}{
		"properties": {false, titled("m", "x-delay", int64(1000), "large", large)},
		"bodies":     {true, heldBack(large, 1000)},
	} {
		c := durableCore(t, delaying)
		c.pressed = func() bool { return row.pressed }
		for range 100 {
			c.publish(row.m)
		}
		count, turns := c.sweeps(mail.ChangeScheduled{Cancel: true, Filter: &mail.ScheduledFilter{Look: true, CorrelationID: "none"}})
		if count != 0 || turns < 9 {
			t.Errorf("%s: %d turns, %d found", name, turns, count)
		}
	}
}

// TestFilterWaits_DLY17: messages whose contents are being read may be released, cancelled or purged meanwhile; those that
// cannot be read are counted, and stay.
func TestFilterWaits_DLY17(t *testing.T) {
	ask := func(c *core) {
		c.disk.late = true
		c.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Cancel: true, Filter: &mail.ScheduledFilter{Headers: protocol.Table{{Key: "k", Value: "v"}}}})
		if got := all[*mail.ChangeScheduledReply](c); len(got) != 0 {
			t.Fatal("answered before the contents were read")
		}
	}
	for name, row := range map[string]struct {
		do    func(c *core)
		count int
	}{
		"nothing":     {func(*core) {}, 3},
		"released":    {func(c *core) { c.at(1500) }, 2},
		"cancelled":   {func(c *core) { c.cancelled(2, "") }, 2},
		"purged":      {func(c *core) { c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch2}}) }, 0},
		"rescheduled": {func(c *core) { c.rescheduled(2, "", 9000) }, 3},
		"replaced": {func(c *core) {
			c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch2}})
			c.publish(titled("new", "x-delay", int64(5000), "k", "v"))
		}, 0},
	} {
		c := durableCore(t, delaying)
		c.pressed = func() bool { return true }
		for i := range 3 {
			c.publish(titled(fmt.Sprint(i), "x-delay", int64(1000*(i+1)), "k", "v"))
		}
		ask(c)
		row.do(c)
		c.disk.late = false
		c.arrive()
		if got := c.changed(); got != row.count {
			t.Errorf("%s: %d cancelled, want %d", name, got, row.count)
		}
	}
	c := durableCore(t, delaying)
	c.pressed = func() bool { return true }
	c.publish(titled("good", "x-delay", int64(1000), "k", "v"), titled("bad", "x-delay", int64(1000), "k", "v"))
	c.damage("bad", store.ErrDamaged)
	ask(c)
	c.disk.late = false
	c.arrive()
	if r := one[*mail.ChangeScheduledReply](c); r.Count != 1 || r.Unreadable != 1 || c.Scheduled.Len() != 1 {
		t.Errorf("%+v, %d left", r, c.Scheduled.Len())
	}
}

// TestFilterIsDurable_DLY17: the answer waits for the journal, and is an error if that fails; a look does not wait.
func TestFilterIsDurable_DLY17(t *testing.T) {
	c := durableCore(t, delaying)
	c.publish(heldBack("a", 1000), heldBack("b", 1000))
	c.hold = true
	filter := &mail.ScheduledFilter{MessageID: "id a", Look: true}
	m := &mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Cancel: true, Filter: filter}
	if c.feed(m); c.changed() != 1 {
		t.Error("nothing found")
	}
	filter.Look = false
	if c.feed(m); len(all[*mail.ChangeScheduledReply](c)) != 0 {
		t.Error("answered before it is durable")
	}
	if c.settleCommit(); c.changed() != 1 {
		t.Error("not answered")
	}
	c.disk.err = store.ErrClosed
	filter.MessageID = "id b"
	c.feed(m)
	c.settleCommit()
	if r := one[*mail.ChangeScheduledReply](c); r.Err == nil {
		t.Error("no failure is reported")
	}
}

// TestRetriesByFilter_DLY17: messages that wait for a delayed retry are cancelled or get another time, which outlasts a
// restart; deferred messages without a time are not concerned.
func TestRetriesByFilter_DLY17(t *testing.T) {
	retrying := retries(retry.Settings{Failed: true, Returned: true, Min: 1000, Max: 1000})
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, retrying)
		c.pressed = func() bool { return pressed }
		for _, body := range []string{"a", "b", "c", "d"} {
			c.publish(titled(body, "k", body))
		}
		c.consume(ch1, "t", 4)
		c.want("delivered", c.delivered("t"), "a", "b", "c", "d")
		c.settle(ch1, mail.Requeue, 1, 3)
		c.settle(ch1, mail.Defer, 4, 4)
		all := mail.ScheduledFilter{DueFrom: 1, Retries: true}
		look := all
		look.Look = true
		if n := c.sweepsAway(look); n != 3 {
			t.Errorf("%d wait", n)
		}
		if n := c.sweepsAway(mail.ScheduledFilter{Headers: protocol.Table{{Key: "k", Value: "b"}}, Retries: true}); n != 1 {
			t.Errorf("%d cancelled", n)
		}
		if n := c.sweepsTo(5000, mail.ScheduledFilter{MessageID: "id a", Retries: true}); n != 1 {
			t.Errorf("%d rescheduled", n)
		}
		c.at(1000)
		c.want("after the delay", c.delivered("t"), "c*")
		c.settle(ch1, mail.Ack, 5, 5)
		c = c.restarted(2000, retrying)
		c.consume(ch1, "t", 4)
		c.at(4999)
		c.want("early", c.delivered("t"))
		c.at(5000)
		c.want("at its new time", c.delivered("t"), "a")
		if n := c.sweepsAway(all); n != 0 || c.describe1().Deferred != 1 {
			t.Errorf("%d cancelled, %d deferred", n, c.describe1().Deferred)
		}
	}
	c := newCore(t, retrying)
	c.put("a", "b")
	c.consume(ch1, "t", 4)
	c.delivered("t")
	c.settle(ch1, mail.Requeue, 1, 2)
	if n := c.sweepsTo(-1000, mail.ScheduledFilter{DueFrom: 1, Retries: true}); n != 2 {
		t.Errorf("%d rescheduled", n)
	}
	c.want("at once", c.delivered("t"), "a*", "b*")
}

// TestMatchCost_DLY17: the cost of a message grows with the headers that are looked for.
func TestMatchCost_DLY17(t *testing.T) {
	m := content.MatchOf(&mail.ScheduledFilter{Headers: protocol.Table{{Key: "a", Value: "b"}, {Key: "c", Value: int64(1)}}})
	if got := m.Cost(make([]byte, 10)); got != 30 || m.All() {
		t.Errorf("%d", got)
	}
}

// TestFilterAfterRedeclare_DLY17: a command whose queue is deleted and declared again does not go on in the new queue.
func TestFilterAfterRedeclare_DLY17(t *testing.T) {
	c := durableCore(t, delaying)
	c.turnLimit = 2
	for i := range 5 {
		c.publish(heldBack(fmt.Sprint(i), 1000))
	}
	f := mail.ScheduledFilter{DueFrom: 1}
	c.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Cancel: true, Filter: &f})
	f.From = one[*mail.ChangeScheduledReply](c).Next
	f.From.Queue--
	c.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}, Cancel: true, Filter: &f})
	r := one[*mail.ChangeScheduledReply](c)
	if e, ok := r.Err.(*protocol.ChannelError); !ok || e.Code != protocol.NotFound || c.Scheduled.Len() != 3 {
		t.Errorf("%v, %d left", r.Err, c.Scheduled.Len())
	}
}
