package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// restore pushes what the journal had, paged out. Deadlines are as they were
// fixed, or follow from the settings where those are retroactive (TTL-25): both
// count on while the broker is down (TTL-26).
func (s *state) restore(recovered []store.Recovered, now clock.Instant) {
	if s.queue.Durable { // a number is given out once, also one whose message is gone
		s.seq = uint64(now)
	}
	for i := range recovered {
		m := &recovered[i]
		s.seq = max(s.seq, m.Seq)
		deadline := m.Deadline
		if s.settings.RetroactiveTTL {
			deadline = after(m.Time, s.ttl(m.TTL))
		}
		h := s.messages.PushPaged(&backlog.Record{
			Deadline: deadline, TTL: m.TTL, Enqueued: m.Time, Seq: m.Seq, DeliveryCount: m.Deliveries,
			Priority: min(m.Priority, s.settings.MaxPriority), Redelivered: m.Redelivered, Persistent: true,
		}, m.Body, uint64(m.At))
		s.messages.Entry(h).Marks = backlog.Stored
		s.schedule(h)
	}
}

// doze takes mail while the queue is asleep.
func (s *state) doze(what any, now clock.Instant) {
	switch m := what.(type) {
	case *mail.Configure:
		before := s.settings
		s.effective, s.settings = m.Effective, m.Settings
		s.lease.SetPeriod(period(s.settings.Expires), now.Ceil())
		for s.resettle(&before); s.swept != 0; {
			s.retime()
		}
		s.out.again = false
	case *mail.DescribeQueue:
		s.describe(m)
	case *mail.Wake:
		s.phase, s.waking = live, m
		s.lease.Renew(now.Ceil()) // its full period after a restart (LEASE-4)
		s.tick(now)
	case timerFired, again:
	default:
		s.parked = append(s.parked, what)
	}
}

// awake answers Wake when the turns that the sweep took are over.
func (s *state) awake() {
	if s.waking != nil && !s.out.again {
		s.send(s.waking.ReplyTo, &mail.QueueAwake{Reply: s.waking.Done(nil)})
		s.waking = nil
	}
}
