package channel

import (
	"maps"
	"slices"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/metrics"
)

// describe answers DescribeChannel. It changes nothing.
func (s *state) describe(m *mail.DescribeChannel) {
	counts, more := s.Figures()
	info := &mail.ChannelInfo{
		Reply: m.Done(nil), Number: s.cfg.ID, User: s.cfg.User.Name, VHost: s.cfg.VHost.Name,
		Running: s.in.Phase == input.Open, Confirm: s.confirms.On(), Prefetch: s.prefetch, GlobalPrefetch: s.queues.Unacked.Limit.Messages(),
		Consumers: len(s.consumers), Unacked: max(s.queues.Unacked.Len()-s.queues.Unacked.Late(), 0), Unconfirmed: s.confirms.Unconfirmed(), Counts: counts,
		Published: *more, LastUse: s.cfg.Clock.Date(s.in.Used.Floor()),
	}
	if s.tx != nil {
		info.Transactional = true
		info.Uncommitted, info.AcksUncommitted = s.tx.Len()
	}
	if m.Queues {
		of := map[string]bool{}
		for _, c := range s.consumers {
			of[c.Name] = true
		}
		info.Queues = slices.Collect(maps.Keys(of))
	}
	s.mail.Send(m.ReplyTo, info)
}

// Figures implements shell.Core.
func (s *state) Figures() (mail.Counts, *metrics.Published) {
	c, more := s.queues.Figures()
	c.Confirm = s.confirms.Acked()
	return c, more
}
