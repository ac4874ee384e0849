package channel

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/rules"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// while runs the mail that was posted while time passes.
func (r *rig) while(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	list := r.later
	r.later = nil
	for _, m := range list {
		r.turn(m)
	}
}

// scarce runs test in a bubble with a rig, while an alarm has used up what may be copied. again ends the alarm.
func scarce(t *testing.T, test func(r *rig, again func())) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget.Budget{}
		v := budget.NewValve(b)
		copies := budget.NewCopies(b, v)
		r := newRig(t, func(c *Config) { c.Copies = copies })
		v.SetShut(true)
		for copies.Ask(1) {
			b.Count(1)
		}
		test(r, func() {
			v.SetShut(false)
			r.while(2 * time.Second)
		})
		r.balanced()
	})
}

// TestDL33_PublishWaits: in an alarm a publish for several queues that was read already waits, with all later input of its
// channel; one for a single queue does not. So does one while many copies are in transit.
func TestDL33_PublishWaits(t *testing.T) {
	scarce(t, func(r *rig, again func()) {
		r.command(&protocol.ConfirmSelect{})
		r.received("confirm.select-ok")
		r.feed(publish("x", "one", "a"), publish("x", "both", "b"), publish("x", "one", "c"))
		r.sent("q1: enqueue a#1")
		r.while(5 * time.Millisecond)
		r.sent()
		again()
		r.sent("q1: enqueue b#2", "q2: enqueue b#2", "q1: enqueue c#3")

		var many message.Transit
		many.Begin(r.cfg.Gate, 1<<16)
		r.feed(publish("x", "both", "d"))
		r.while(2 * time.Second)
		r.sent()
		many.End()
		r.while(2 * time.Second)
		r.sent("q1: enqueue d#4", "q2: enqueue d#4")
	})
}

// TestDL33_LongRouteWaits: so does a publish whose route was searched for.
func TestDL33_LongRouteWaits(t *testing.T) {
	scarce(t, func(r *rig, again func()) {
		r.crowd(100, rules.LongPatterns()...)
		r.feed(publish("crowd", "k", "long", carbons(30, rules.LongKey)), publish("x", "one", "after"))
		r.search()
		r.sent()
		if used := r.cfg.Gate.Used(); used < 1000 {
			t.Errorf("%d bytes are charged for a publish that waits", used)
		}
		again()
		long := 0
		for _, p := range r.posts {
			if text := r.describe(p); strings.HasSuffix(text, "enqueue long") {
				long++
			} else if text != "q1: enqueue after" || long != 100 {
				t.Errorf("%s after %d", text, long)
			}
		}
		r.posts = nil
	})
}

// TestDL33_CommitWaits: so does a commit, before each of its turns.
func TestDL33_CommitWaits(t *testing.T) {
	scarce(t, func(r *rig, again func()) {
		r.command(&protocol.TxSelect{})
		r.received("tx.select-ok")
		r.feed(publish("x", "one", "a"))
		r.command(&protocol.TxCommit{})
		r.sent("q1: enqueue a#1")
		r.turn(&mail.EnqueueReply{Queue: pid("q1"), Ranges: []mail.Range{{First: 1, Last: 1}}})
		r.received("tx.commit-ok")
		r.feed(publish("x", "both", "b"))
		r.command(&protocol.TxCommit{})
		r.while(5 * time.Millisecond)
		r.sent()
		again()
		r.sent("q1: enqueue b#2", "q2: enqueue b#2")
	})
}
