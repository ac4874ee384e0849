package channel

import "candlemark/actors/mail"

// describe answers the administrator's question. It changes nothing.
func (s *state) describe(m *mail.DescribeChannel) {
	info := &mail.ChannelInfo{
		Reply: m.Done(nil), Number: s.cfg.ID, User: s.cfg.User.Name, VHost: s.cfg.VHost.Name,
		Running: s.phase == open, Confirm: s.confirms.On(), Prefetch: s.prefetch, GlobalPrefetch: s.common.limit,
		Consumers: len(s.consumers), Unacked: max(s.unacked.Len()-s.late, 0), Unconfirmed: s.confirms.Untold(), Counts: s.counted(),
	}
	if s.tx != nil {
		info.Transactional, info.Uncommitted, info.AcksUncommitted = true, len(s.tx.publishes), len(s.tx.settles)
	}
	s.send(m.ReplyTo, info)
}

// counted are the channel's counts so far.
func (s *state) counted() mail.Counts {
	c := s.counts
	c.Confirm = s.confirms.Acked()
	return c
}

// find tells which delivery tags stand for which deliveries. It changes nothing.
func (s *state) find(m *mail.FindDeliveries) {
	found := &mail.DeliveriesFound{Reply: m.Done(nil), Queue: m.Queue, Tags: map[uint64]uint64{}}
	if m.Tag != 0 {
		if u, ok := s.unacked.Get(m.Tag); ok && !u.peer.gone {
			found.Queue, found.Tags[u.number] = u.peer.pid, m.Tag
		}
		s.send(m.ReplyTo, found)
		return
	}
	wanted := make(map[uint64]bool, len(m.Numbers))
	for _, n := range m.Numbers {
		wanted[n] = true
	}
	s.unacked.Each(func(tag uint64, u unacked) bool {
		if wanted[u.number] && peerKey(u.peer.pid) == peerKey(m.Queue) {
			found.Tags[u.number] = tag
		}
		return true
	})
	s.send(m.ReplyTo, found)
}
