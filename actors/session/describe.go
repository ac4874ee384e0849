package session

import "candlemark/actors/mail"

// describe answers the administrator's question. It changes nothing.
func describe(s *state, m *mail.DescribeChannel) {
	info := &mail.ChannelInfo{
		Reply: m.Done(nil), Number: s.cfg.Channel, User: s.cfg.User.Name, VHost: s.cfg.VHost.Name,
		Running: s.phase == open, Confirm: true, Unacked: max(s.unacked.Len()-s.unacked.Late(), 0), Unconfirmed: s.publishes.Len(),
		Counts: s.counted(), Published: s.published, LastUse: s.used.Floor() + s.cfg.Clock.Skew(), Session: sessionInfo(s),
	}
	info.Uncommitted, info.AcksUncommitted = s.work.Len()
	for _, l := range s.links {
		if l.consumer != nil {
			info.Consumers++
		}
	}
	s.Send(m.ReplyTo, info)
}

// counted are the session's counts so far.
func (s *state) counted() mail.Counts {
	c := s.counts
	c.Ack += s.unacked.Acked()
	return c
}
