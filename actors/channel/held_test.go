package channel

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/budget"
	"candlemark/internal/message"
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

// TestDL33_PublishWaits: in an alarm a publish for several queues that was read already waits, with all later input of its
// channel; one for a single queue does not. So does one while many copies are in transit.
func TestDL33_PublishWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget.Budget{}
		v := budget.NewValve(b)
		copies := budget.NewCopies(b, v)
		r := newRig(t, func(c *Config) { c.Copies = copies })
		r.command(&protocol.ConfirmSelect{})
		r.received("confirm.select-ok")
		v.SetShut(true)
		for copies.Ask(1) {
			b.Count(1)
		}
		r.feed(publish("x", "one", "a"), publish("x", "both", "b"), publish("x", "one", "c"))
		r.sent("q1: enqueue a#1")
		r.while(5 * time.Millisecond)
		r.sent()
		v.SetShut(false)
		r.while(2 * time.Second)
		r.sent("q1: enqueue b#2", "q2: enqueue b#2", "q1: enqueue c#3")

		var many message.Transit
		many.Begin(r.cfg.Gate, 1<<16)
		r.feed(publish("x", "both", "d"))
		r.while(2 * time.Second)
		r.sent()
		many.End()
		r.while(2 * time.Second)
		r.sent("q1: enqueue d#4", "q2: enqueue d#4")
		r.balanced()
	})
}
