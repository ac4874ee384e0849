package queue

import (
	"bytes"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

// lounge is a part that a queue does not have: messages that begin with "sit" wait for a second before they are ready.
type lounge struct {
	base
	guests  []message.Message
	until   []int64
	arrived int // the messages that the queue has taken
	waiting []mail.Answerable
	events  []string
}

// with gives all queues of the test a lounge, by one entry in each list that concerns it.
func with(t *testing.T) map[*state]*lounge {
	all := map[*state]*lounge{}
	of := func(s *state) *lounge {
		if all[s] == nil {
			all[s] = &lounge{base: base{&s.host}}
		}
		return all[s]
	}
	p, g, h := parts, gates, handlers
	t.Cleanup(func() { parts, gates, handlers = p, g, h })
	parts = append(slices.Clone(p), func(s *state) part { return of(s) })
	gates = append(slices.Clone(g), func(s *state, _ *mail.Enqueue) gate { return of(s) })
	handlers = append([]func(*state) handler{func(s *state) handler { return of(s) }}, h...)
	return all
}

func (l *lounge) Judge(a *incoming) verdict {
	if !bytes.HasPrefix(a.m.Body, []byte("sit")) {
		return pass
	}
	if !a.dry {
		l.guests, l.until = append(l.guests, *a.m), append(l.until, a.now.Ceil()+1000)
	}
	return taken
}

func (l *lounge) Took(_ *incoming, v verdict) verdict {
	l.arrived++
	return v
}

func (l *lounge) Next() (int64, bool) {
	if len(l.until) == 0 {
		return 0, false
	}
	return l.until[0], true
}

func (l *lounge) Advance(now clock.Instant) bool {
	for len(l.until) > 0 && l.until[0] <= now.Floor() {
		l.messages.Wait(l.messages.Keep(&l.guests[0], l.messages.Expiry.Deadline(-1, now), now))
		l.guests, l.until = l.guests[1:], l.until[1:]
	}
	return false
}

func (l *lounge) Settings(before *policies.QueueSettings, _ clock.Instant) {
	if before == nil {
		l.events = append(l.events, "start")
		return
	}
	l.events = append(l.events, "settings")
}

func (l *lounge) Gone(mail.Address, clock.Instant) { l.events = append(l.events, "gone") }

func (l *lounge) Busy() bool { return len(l.guests) > 0 }

func (l *lounge) Figures(f *figures) {
	f.held, f.memory = f.held+len(l.guests), f.memory+int64(len(l.guests))*1000
}

func (l *lounge) Handle(received any, _ clock.Instant) bool {
	m, is := received.(*mail.ChangeScheduled)
	if is {
		l.waiting = append(l.waiting, m)
	}
	return is
}

func (l *lounge) End() []mail.Answerable { return l.waiting }

// TestNewPart: a new feature of a queue is a type in a file of its own and an entry in each list that concerns it. No file of
// the core changes.
func TestNewPart(t *testing.T) {
	all := with(t)
	c := newCore(t)
	l := all[&c.state]
	c.put("a", "sit b", "c")
	if acks, _ := c.confirmed(); len(acks) != 3 || l.arrived != 2 {
		t.Errorf("%d confirmed, %d taken", len(acks), l.arrived)
	}
	c.feed(&mail.Enqueue{From: publisher, AllOrNone: true, Messages: []message.Message{msg("sit d", -1)}})
	c.want("ready", c.ready(), "a", "c")
	if info := c.info(); info.Memory < 2000 || len(l.guests) != 2 {
		t.Errorf("%d bytes with %d guests", info.Memory, len(l.guests))
	}
	c.feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}})
	if all[&c.state] != l || idle(&c.state) {
		t.Error("the queue is dormant with guests")
	}
	c.at(999)
	c.want("ready", c.ready())
	c.at(1000)
	c.want("ready", c.ready(), "sit b", "sit d")
	c.feed(&mail.Configure{Settings: c.Settings}, &mail.ChannelGone{Channel: ch1})
	c.want("events", l.events, "start", "settings", "gone")
	c.feed(&mail.ChangeScheduled{Request: mail.Request{ReplyTo: ch1}}, &mail.DeleteQueue{Request: mail.Request{ReplyTo: ch2}})
	c.vhostAnswers()
	if r := one[*mail.ChangeScheduledReply](c); r.Err == nil || c.phase != ended {
		t.Errorf("the command that waits is answered with %v", r.Err)
	}
}
