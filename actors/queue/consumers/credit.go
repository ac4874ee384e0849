package consumers

import (
	"math"

	"candlemark/actors/system/mail"
)

// A consumer with link credit, that is a link of AMQP 1.0, gets messages only while it has credit. The queue counts its
// deliveries, so that credit for messages under way when the client changes the credit is not granted twice [AMQP 1.0
// transport 2.6.7].

// Adjust handles mail of a channel about what its consumers may get.
func (s *Consumers) Adjust(m any) {
	switch m := m.(type) {
	case *mail.SetLinkCredit:
		s.Credit(m)
	case *mail.QosReclaim:
		s.Reclaim(m)
	case *mail.QosAllow:
		s.Allow(m)
	case *mail.QosLimited:
		s.Limit(m)
	case *mail.SetPrefetch:
		s.Resize(m)
	case *mail.UnreadRoom:
		s.roomy(m)
	}
}

// Credit sets the link credit of a consumer.
func (s *Consumers) Credit(m *mail.SetLinkCredit) {
	c := s.Find(m.Channel, m.Tag)
	if c == nil || !c.Credited {
		return
	}
	left := int64(int32(m.DeliveryCount-c.delivered)) + int64(m.Credit)
	c.credit = int32(min(max(left, 0), math.MaxInt32))
	if m.Drain && !c.draining {
		s.draining = append(s.draining, c)
	}
	if c.draining = m.Drain; m.Echo && !m.Drain && !c.needsAllowance {
		c.needsAllowance, s.asking = true, append(s.asking, c)
	}
	s.refresh(c)
}

// useOwnCredit counts a delivery.
func (c *Consumer) useOwnCredit() {
	c.delivered++
	c.credit = max(c.credit-1, 0)
}

// AnswerCredit makes Flush send CreditTaken, after the deliveries, with the number of ready messages. A draining
// consumer that can get none of them has used up its credit.
func (s *Consumers) AnswerCredit(ready int) {
	s.ready = ready
	if len(s.draining) == 0 {
		return
	}
	kept := s.draining[:0]
	for _, c := range s.draining {
		switch {
		case c.gone || !c.draining:
			c.draining = false
		case c.credit > 0 && ready > 0 && s.Active(c) && (!c.Session || c.mayRun || c.ContentPending): // it continues in the next turn, or when its window has room
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

// answerCredit sends CreditTaken to the consumers whose credit is used up, and to consumers that asked for it.
func (s *Consumers) answerCredit() {
	for _, c := range s.drained {
		s.out.Send(c.Channel.Address, &mail.CreditTaken{Queue: s.queue, Tag: c.Tag, Drained: true, DeliveryCount: c.delivered, Available: uint32(s.ready)})
	}
	for _, c := range s.asking {
		if c.needsAllowance = false; !c.gone {
			s.out.Send(c.Channel.Address, &mail.CreditTaken{Queue: s.queue, Tag: c.Tag, Available: uint32(s.ready)})
		}
	}
	clear(s.drained)
	clear(s.asking)
	s.drained, s.asking = s.drained[:0], s.asking[:0]
}
