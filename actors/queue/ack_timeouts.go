package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/acktimeouts"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/policies"
)

// startAckTimeout fixes when a delivery has to be settled: by the lower of the queue's
// timeout and own, the consumer's, as they are now.
func (s *state) startAckTimeout(h backlog.Handle, to *consumers.Channel, number uint64, own int64, now clock.Instant) {
	timeout := policies.LowerTimeout(s.Settings.ConsumerTimeout, own)
	if timeout < 0 {
		return
	}
	if s.ackTimeouts == nil {
		s.ackTimeouts = acktimeouts.New(&s.Backlog)
	}
	s.ackTimeouts.Start(h, to, number, store.After(now.Ceil(), timeout), now.Floor())
}

// expireAckTimeouts takes back what was not settled in time, a turn's worth at a time, and
// cancels the consumers that had it.
func (s *state) expireAckTimeouts(now clock.Instant) (more bool) {
	var cancelled []*consumers.Consumer
	told := map[*consumers.Channel]*mail.DeliveriesReturned{}
	more = s.ackTimeouts.Advance(now.Floor(), messages.TurnLimit, func(channel *consumers.Channel, number uint64) {
		s.Counts.TimedOut++
		m := told[channel]
		if m == nil {
			m = &mail.DeliveriesReturned{Queue: s.self, Name: s.queue.Name}
			told[channel] = m
			s.out.Send(channel.Address, m)
		}
		if c := takeBack(s, channel, number, m, now).Consumer; c != nil && !c.Gone() {
			s.detach(c, now)
			cancelled = append(cancelled, c)
		}
	})
	for _, c := range cancelled {
		s.out.Send(c.Channel.Address, &mail.ConsumerCancelled{Queue: s.self, Tag: c.Tag})
	}
	return more
}

// takeBack requeues a delivery that its channel holds, which m is to tell it.
func takeBack(s *state, channel *consumers.Channel, number uint64, m *mail.DeliveriesReturned, now clock.Instant) consumers.Delivery {
	u, _ := channel.Unacked.Take(number)
	m.Add(number)
	s.releaseDelivery(u)
	s.Requeue(u.Message, now)
	return u
}
