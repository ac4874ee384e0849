package consumers

import (
	"math"

	"candlemark/actors/mail"
)

// A consumer with link credit, that is a link of AMQP 1.0, gets messages only while it has credit. The queue counts
// its deliveries, so that credit for messages that are on their way when the client changes the credit is not granted
// twice [AMQP 1.0 transport 2.6.7].

// Credit sets the link credit of a consumer.
func (s *Set) Credit(m *mail.Credit) {
	c := s.Find(m.Channel, m.Tag)
	if c == nil || !c.Credited {
		return
	}
	left := int64(int32(m.DeliveryCount-c.delivered)) + int64(m.Credit)
	c.credit = int32(min(max(left, 0), math.MaxInt32))
	if m.Drain && !c.draining {
		s.draining = append(s.draining, c)
	}
	c.draining = m.Drain
	s.refresh(c)
}

// useOwnCredit counts a delivery.
func (c *Consumer) useOwnCredit() {
	c.delivered++
	c.credit = max(c.credit-1, 0)
}

// EndDrains drains consumers that can get no more of the ready messages: their credit is used up, and Flush sends
// Drained behind the deliveries.
func (s *Set) EndDrains(ready int) {
	if len(s.draining) == 0 {
		return
	}
	kept := s.draining[:0]
	for _, c := range s.draining {
		switch {
		case c.gone || !c.draining:
			c.draining = false
		case c.credit > 0 && ready > 0 && s.Active(c) && (!c.Session || c.runs || c.Reading): // continues in the next turn, or when its window has room
			kept = append(kept, c)
		default:
			c.delivered += uint32(c.credit)
			c.credit, c.draining = 0, false
			s.refresh(c)
			s.drained = append(s.drained, c)
		}
	}
	clear(s.draining[len(kept):])
	s.draining = kept
}

// sendDrained sends Drained to the consumers that were drained.
func (s *Set) sendDrained() {
	for i, c := range s.drained {
		s.out.Send(c.Channel.Address, &mail.Drained{Queue: s.queue, Tag: c.Tag, DeliveryCount: c.delivered})
		s.drained[i] = nil
	}
	s.drained = s.drained[:0]
}
