package move

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

var (
	self = address.Named("move")
	from = &topology.Queue{Name: "dead", PID: address.Named("dead")}
)

// core is the state of a move in a virtual host with the default exchange and some queues.
type core struct {
	*testing.T
	state
	now clock.Instant
}

func newCore(t *testing.T, job Job, queues ...string) *core {
	c := &core{T: t, now: 1e15}
	v := topology.NewVHost("/")
	d := v.Directory().WithExchange(&topology.Exchange{}).WithQueue(from)
	for _, name := range queues {
		d = d.WithQueue(&topology.Queue{Name: name, PID: address.Named(name)})
	}
	v.Publish(d)
	job.VHost, job.From = v, from
	if job.May == nil {
		job.May = func(string, string) error { return nil }
	}
	c.begin(job, self, c.now)
	return c
}

// one takes the only mail of its type and leaves the others.
func one[T any](c *core) (found T) {
	c.Helper()
	n := 0
	kept := c.out.Posts[:0]
	for _, p := range c.out.Posts {
		if m, is := p.Mail.(T); is {
			found = m
			n++
			continue
		}
		kept = append(kept, p)
	}
	if c.out.Posts = kept; n != 1 {
		c.Fatalf("%d of %T, and %v", n, found, kept)
	}
	return found
}

// brings answers the claim with messages dead-lettered from these queues, "" for none.
func (c *core) brings(more bool, queues ...string) {
	c.Helper()
	one[*mail.Claim](c)
	m := &mail.ClaimReply{Newest: 100, More: more, Next: mail.Cursor{Seq: 7}}
	for i, q := range queues {
		x := mail.ClaimedMessage{Number: uint64(i + 1), Message: message.Message{Exchange: []byte("x"), RoutingKey: []byte("k"), Body: fmt.Append(nil, i)}}
		if q != "" {
			x.Message.Overlay = (*message.Overlay)(nil).Died(message.Death{Queue: q, Reason: "expired", Exchange: "e", RoutingKeys: []string{"first"}})
			x.Message.Overlay.CC = []string{"other"}
		}
		m.Messages = append(m.Messages, x)
	}
	c.claimed(m, c.now)
}

// settles has the queue settle a batch, durably.
func (c *core) settles() {
	c.Helper()
	one[*mail.Settle](c)
	c.settledAll(nil, c.now)
}

// answers has a target confirm or refuse a batch.
func (c *core) answers(e *mail.Enqueue, refused bool) {
	reply := &mail.EnqueueReply{Queue: e.Queue, Refused: refused}
	for i := range e.Messages {
		reply.Add(e.Messages[i].Number)
	}
	c.enqueued(reply, c.now)
}

func (c *core) counts(moved int64, kept map[string]int64) {
	c.Helper()
	if c.status.Moved != moved || !maps.Equal(c.status.Kept, kept) {
		c.Errorf("%+v, want %d moved, %v kept", c.status, moved, kept)
	}
}

// Nothing is acknowledged before the whole batch is confirmed; messages that cannot be moved are put back, in the same mail, in
// order; then the next batch is claimed.
func TestBatch(t *testing.T) {
	c := newCore(t, Job{To: To{Origin: true}}, "orders")
	c.brings(true, "orders", "", "gone", "orders")
	e := one[*mail.Enqueue](c)
	if m := e.Messages[0]; !e.Moved || len(e.Messages) != 2 || string(m.Exchange) != "e" || string(m.RoutingKey) != "first" || m.Overlay.CC != nil || len(m.Overlay.Deaths) != 1 {
		t.Errorf("%+v", e)
	}
	if len(c.out.Posts) > 0 {
		t.Errorf("%v is sent before the target has answered", c.out.Posts)
	}
	c.answers(e, false)
	want := []mail.SettleRange{{First: 1, Last: 1}, {First: 2, Last: 3, How: mail.PutBack}, {First: 4, Last: 4}}
	settle := one[*mail.Settle](c)
	if got := settle.Ranges; fmt.Sprint(got) != fmt.Sprint(want) || settle.Asked == nil || !settle.Durable {
		t.Errorf("%+v, want %v", settle, want)
	}
	c.counts(0, nil) // not before the journal has it (DUR-3)
	c.settledAll(nil, c.now)
	c.counts(2, map[string]int64{NoOrigin: 1, Unroutable: 1})
	c.brings(false)
	if c.status.Phase != Finished || !c.out.ended {
		t.Errorf("%+v", c.status)
	}
}

// Messages stay in their queue if the target refuses them or ends, or if the user may not publish to it.
func TestRefusals(t *testing.T) {
	c := newCore(t, Job{To: To{Queue: "to"}}, "to")
	c.brings(true, "", "")
	c.answers(one[*mail.Enqueue](c), true)
	c.settles()
	c.counts(0, map[string]int64{Refused: 2})
	c.brings(true, "")
	one[*mail.Enqueue](c)
	c.gone(address.Named("to"), c.now)
	c.settles()
	c.counts(0, map[string]int64{Refused: 3})
	c.gone(address.Named("to"), c.now) // nothing is under way to it: no second claim
	c.brings(true, "")
	one[*mail.Enqueue](c)
	c.gone(from.PID, c.now)
	if c.status.Phase != Failed || !c.out.ended {
		t.Errorf("%+v", c.status)
	}
	c = newCore(t, Job{To: To{Exchange: "", HasKey: true, Key: "to"}, May: func(string, string) error { return errors.New("no") }}, "to")
	c.brings(false, "", "")
	c.settles()
	c.counts(0, map[string]int64{Denied: 2})
}

// A move whose queue cannot store that the messages left it has failed.
func TestNotRecorded_DUR3(t *testing.T) {
	c := newCore(t, Job{To: To{Queue: "to"}}, "to")
	c.brings(true, "")
	c.answers(one[*mail.Enqueue](c), false)
	one[*mail.Settle](c)
	c.settledAll(mail.NotRecorded(), c.now)
	if c.status.Phase != Failed || !c.out.ended || len(c.out.Posts) > 0 {
		t.Errorf("%+v", c.status)
	}
}

// The rate limits messages per second; a stop takes effect at once while the move waits, otherwise after the batch.
func TestRateAndStop(t *testing.T) {
	c := newCore(t, Job{To: To{Queue: "to"}, Rate: 8}, "to")
	if n := one[*mail.Claim](c).Limit; n != 2 {
		t.Errorf("%d at a time", n)
	}
	c.out.Send(from.PID, &mail.Claim{})
	c.brings(true, "", "")
	c.now += 50e6
	c.answers(one[*mail.Enqueue](c), false)
	c.settles()
	if c.out.wait != 200 {
		t.Errorf("waits %d ms", c.out.wait)
	}
	c.out = outcome{}
	c.tick(c.now)
	c.brings(true, "")
	c.stop(c.now)
	if c.status.Phase != Running {
		t.Fatalf("%+v", c.status)
	}
	c.answers(one[*mail.Enqueue](c), false)
	c.settles()
	c.counts(3, map[string]int64{})
	if c.status.Phase != Stopped {
		t.Errorf("%+v", c.status)
	}
}

// A dry run sends only claims, and counts messages by target; targets beyond maxTargets are counted together.
func TestDryRun(t *testing.T) {
	var queues, died []string
	for i := range maxTargets + 20 {
		queues = append(queues, fmt.Sprint("q", i))
		died = append(died, fmt.Sprint("q", i))
	}
	c := newCore(t, Job{To: To{Origin: true}, DryRun: true}, queues...)
	c.brings(false, died...)
	if len(c.out.Posts) > 0 || len(c.copies) > 0 {
		t.Errorf("%v", c.out.Posts)
	}
	c.counts(maxTargets+20, map[string]int64{})
	if len(c.status.Targets) != maxTargets+1 || c.status.Targets[others] != 20 || c.status.Targets["q3"] != 1 {
		t.Errorf("%v", c.status.Targets)
	}
}

// TestImpossibleCopyIsMoved_SBR6: a message with a copy that can never be made stays in its queue only if no other copy was
// taken.
func TestImpossibleCopyIsMoved_SBR6(t *testing.T) {
	for _, other := range []string{"taken", "refused", "unfit"} {
		c := newCore(t, Job{To: To{Queue: "to"}}, "to")
		c.brings(true, "")
		number := one[*mail.Enqueue](c).Messages[0].Number
		c.copies[number+1], c.number = copied{c.copies[number].item, address.Named("to")}, number+1
		c.batch[0].copies = 2
		answer := func(n uint64, how string) {
			r := &mail.EnqueueReply{Refused: how != "taken", Ranges: []mail.Range{{First: n, Last: n}}}
			if how == "unfit" {
				r.Why = mail.ErrCopy
			}
			c.enqueued(r, c.now)
		}
		answer(number, "unfit")
		answer(number+1, other)
		c.settles()
		if other == "taken" {
			c.counts(1, map[string]int64{})
		} else {
			c.counts(0, map[string]int64{Refused: 1})
		}
	}
}
