package queue

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
)

// TestForwardGivenUp: a message that returns to a queue that no longer forwards goes to a waiting consumer at once.
func TestForwardGivenUp(t *testing.T) {
	c := newCore(t, dlx, forwardTo)
	c.consume(ch1, "a", 10)
	c.put("m")
	if bodies, _ := c.moved(); len(bodies) != 1 {
		t.Fatalf("%v moved", bodies)
	}
	c.feed(&mail.Configure{Settings: settings(dlx)})
	c.feed(&mail.DeadLetterReply{Incarnation: 7, Lost: true, Epoch: c.DeadLetters.Counts().Epoch})
	c.want("delivered", c.delivered("a"), "m")
}

// TestSpilledForNothing: a message dropped in the turn in which it was to be written is not sent to the journal.
func TestSpilledForNothing(t *testing.T) {
	c := newCore(t, maxLength(0, "drop-head"))
	c.pressed = func() bool { return true }
	c.put("a", "b")
	if c.Backlog.Len() != 0 || len(c.commits) != 0 || c.Journal.Spilling() != 0 {
		t.Errorf("%d messages, %d commits, %d bytes under way", c.Backlog.Len(), len(c.commits), c.Journal.Spilling())
	}
}

// TestReleasedBeforeWritten_DLY9: a message released before it is in the journal is found there afterwards, with any
// other records written beside it.
func TestReleasedBeforeWritten_DLY9(t *testing.T) {
	c := durableCore(t, delaying)
	a := heldBack("a", 1000)
	setPersistent(&a, false)
	c.publish(a)
	c.hold, c.pressed = true, func() bool { return true }
	c.publish(heldBack("b", 10)) // a is written after b
	written := make(chan struct{})
	go func() { // like the journal; the turn must not access this field at the same time
		c.commits[0].Records[0].Position = 5
		close(written)
	}()
	c.at(10)
	<-written
	c.settleCommit()
	c.want("ready", c.ready(), "b")
	if h, _ := c.Backlog.First(); c.Backlog.Place(h) == 0 {
		t.Error("nobody knows where b is")
	}
}

// TestReleasedWhileWritten_DLY9: messages become due while the journal writes them.
func TestReleasedWhileWritten_DLY9(t *testing.T) {
	bubble(t, settings(delaying), func(r *rig) {
		r.config.Queue.Durable = true
		r.options.Delay = 5 * time.Millisecond
	}, func(r *rig) {
		for i := range uint64(50) {
			m := heldBack(fmt.Sprint(i), 1+int64(i%7))
			m.Number = i + 1
			r.send(batch(r.channel, m))
			time.Sleep(700 * time.Microsecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if acks, nacks := answers(r.channel); len(acks) != 50 || len(nacks) != 0 {
			r.t.Errorf("%d acks, %d nacks", len(acks), len(nacks))
		}
		r.look(func(s *state) {
			n := 0
			s.messages.Backlog.Walk(func(h uint32) bool {
				if n++; s.messages.Backlog.Place(h) == 0 {
					r.t.Errorf("nobody knows where %d is", s.messages.Backlog.Seq(h))
				}
				return true
			})
			if n != 50 {
				r.t.Errorf("%d ready", n)
			}
		})
	})
}

// TestExpiresBeforeItsTime_TTL17: a message whose moment of expiry has passed when it is due expires, unlike one with a TTL of 0,
// which is delivered if possible.
func TestExpiresBeforeItsTime_TTL17(t *testing.T) {
	for _, pressed := range []bool{false, true} {
		c := durableCore(t, delaying, dlx, expiresAt)
		c.pressed = func() bool { return pressed }
		c.consume(ch1, "a", 10)
		c.publish(titled("late", "x-delay", int64(100), "expires", int64(start+50)), titled("equal", "x-delay", int64(100), "expires", int64(start+100)),
			withTTL(heldBack("now or never", 100), 0), titled("in time", "x-delay", int64(100), "expires", int64(start+101)))
		c.at(100)
		c.want("delivered", c.delivered("a"), "now or never", "in time")
		c.want("expired", c.seenOff(), "expired late", "expired equal")
	}
}

// TestForwardBytes: a message being forwarded is counted once.
func TestForwardBytes(t *testing.T) {
	c := newCore(t, forwardTo)
	c.put("on its way")
	if i := c.info(); i.ReadyBytes != 10 || i.UnackedBytes != 0 {
		t.Errorf("%d bytes ready, %d unacknowledged", i.ReadyBytes, i.UnackedBytes)
	}
}
