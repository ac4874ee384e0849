package move

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/integration/testkit/rules"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
)

// several is a move to an exchange with two queues.
func several(t *testing.T, price *budget.Copies) *core {
	c := newCore(t, Job{To: To{Exchange: "x"}, Copies: price})
	x := &topology.Exchange{Name: "x", Type: "fanout"}
	r, _ := topology.NewRoutes(x.Type, nil)
	for _, name := range []string{"a", "b"} {
		r, _ = r.With(topology.Binding{Destination: name}, topology.Target{Queue: &topology.Queue{Name: name, PID: address.Named(name)}})
	}
	x.Publish(r)
	c.job.VHost.Publish(c.job.VHost.Directory().WithExchange(x))
	return c
}

// sent answers the mail to the targets, and returns how many messages it had.
func (c *core) sent() (n int) {
	posts := c.out.Posts
	c.out.Posts = nil
	for _, p := range posts {
		n += len(p.Mail.(*mail.Enqueue).Messages)
		c.answers(p.Mail.(*mail.Enqueue), false)
	}
	return n
}

// TestCopies_DL32: a message uses up copies if it is moved to several queues, and stays if it may not have so many.
func TestCopies_DL32(t *testing.T) {
	for _, row := range []struct {
		before *message.Overlay
		copies int
		want   uint32
		kept   map[string]int64
	}{
		{nil, 2, (16384 - 1) / 2, map[string]int64{}},
		{(&message.Overlay{}).WithCopies(1), 2, 0, map[string]int64{}},
		{(&message.Overlay{}).WithCopies(0), 0, 0, map[string]int64{TooMany: 1}},
	} {
		c := several(t, nil)
		one[*mail.Claim](c)
		c.claimed(&mail.ClaimReply{Messages: []mail.ClaimedMessage{{Number: 1, Message: message.Message{Overlay: row.before}}}}, c.now)
		for _, p := range c.out.Posts {
			if e, is := p.Mail.(*mail.Enqueue); is && e.Messages[0].Copies() != row.want {
				t.Errorf("%d copies are left, want %d", e.Messages[0].Copies(), row.want)
			}
		}
		if row.copies > 0 && c.sent() != row.copies {
			t.Errorf("%+v", row)
		}
		c.settles()
		c.counts(int64(row.copies/2), row.kept)
	}
}

// scarce returns the price while memory is scarce and the ration is used up.
func scarce() *budget.Copies {
	held := &budget.Budget{}
	price := budget.NewCopies(held, budget.NewValve(held))
	held.Count(1)
	for price.SetMax(1); price.Ask(1); {
		held.Count(1)
	}
	return price
}

// TestCopiesWait_DL33: while memory is scarce, messages for several queues stay in their queue, and are moved later.
func TestCopiesWait_DL33(t *testing.T) {
	price := scarce()
	c := several(t, price)
	c.brings(true, "", "")
	if !c.out.await || c.sent() != 0 || c.out.again {
		t.Errorf("it does not wait: %+v", c.out)
	}
	price.SetMax(0)
	c.again(c.now)
	if n := c.sent(); n != 4 || c.held {
		t.Errorf("%d copies", n)
	}
	c.settles()
	c.counts(2, map[string]int64{})
}

// TestEnlargedWait_DL33: what an action may add to a copy counts as copies, also if there is one queue.
func TestEnlargedWait_DL33(t *testing.T) {
	c := newCore(t, Job{To: To{Queue: "to"}, Copies: scarce()}, "to")
	q := c.job.VHost.Directory().Queue([]byte("to"))
	q.Action = rules.Enlarging(q).Action
	c.brings(true, "")
	if !c.held || c.sent() != 0 {
		t.Errorf("it does not wait: %+v", c.out)
	}
}

// TestStoppedWhileWaiting_DL33: a move stopped while it waits ends at once. Unsent messages stay, and are not counted.
func TestStoppedWhileWaiting_DL33(t *testing.T) {
	c := several(t, scarce())
	c.brings(false, "", "", "")
	c.stop(c.now)
	if got := one[*mail.Settle](c).Ranges; len(got) != 1 || got[0] != (mail.SettleRange{First: 1, Last: 3, How: mail.PutBack}) {
		t.Errorf("%+v", got)
	}
	c.settledAll(nil, c.now)
	c.counts(0, map[string]int64{})
	if c.status.Phase != Stopped {
		t.Error(c.status.Phase)
	}
}

// TestUnansweredAreBounded_DL33: no more copies are made while many are unanswered.
func TestUnansweredAreBounded_DL33(t *testing.T) {
	const first = 1 << 20
	c := several(t, nil)
	answer := &mail.EnqueueReply{}
	for n := range uint64(maxCopies) {
		c.copies[first+n] = copied{&item{}, self}
		answer.Add(first + n)
	}
	c.brings(true, "")
	if n := c.sent(); n > 0 || !c.held || c.out.await {
		t.Errorf("%d copies", n)
	}
	if c.enqueued(answer, c.now); !c.out.again {
		t.Error("it does not go on")
	}
	c.again(c.now)
	if n := c.sent(); n != 2 {
		t.Errorf("%d copies", n)
	}
}
