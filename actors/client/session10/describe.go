package session10

import (
	"cmp"
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
		Reply: m.Done(nil), Number: s.cfg.Channel, User: s.cfg.User.Name, VHost: s.cfg.VHost.Name,
		Running: s.in.Phase == input.Open, Confirm: true, Unacked: max(s.queues.Unacked.Len()-s.queues.Unacked.Late(), 0), Unconfirmed: s.publishing.publishes.Len(),
		Counts: counts, Published: *more, LastUse: s.cfg.Clock.Date(s.in.Used.Floor()), Session: s.sessionInfo(),
	}
	info.Uncommitted, info.AcksUncommitted = s.work.Len()
	of := map[string]bool{}
	for _, l := range s.links {
		if l.consumer != nil {
			info.Consumers++
			of[l.consumer.name] = true
		}
	}
	if m.Queues {
		info.Queues = slices.Collect(maps.Keys(of))
	}
	s.Send(m.ReplyTo, info)
}

// Figures implements shell.Core.
func (s *state) Figures() (mail.Counts, *metrics.Published) { return s.queues.Figures() }

// sessionInfo describes the windows and the links of a session.
func (s *state) sessionInfo() *mail.SessionInfo {
	w := &s.output.windows
	info := &mail.SessionInfo{
		HandleMax: s.cfg.HandleMax, NextIncomingID: w.NextIncoming, IncomingWindow: w.Incoming,
		NextOutgoingID: w.NextOutgoing, RemoteIncomingWindow: w.RemoteIncoming,
	}
	unsettled := map[*link]int{}
	s.output.owners.Each(func(_ uint64, l *link) bool {
		unsettled[l]++
		return true
	})
	for _, l := range s.links {
		shown := mail.LinkInfo{Handle: l.handle, Name: l.name, Address: l.address}
		if p := l.publisher; p != nil {
			shown.DeliveryCount, shown.Credit, shown.Unsettled = p.Count, p.Credit, p.Open
		} else if a := l.account(); a != nil {
			shown.Receiver, shown.DeliveryCount, shown.Credit, shown.Unsettled = true, a.Count, a.Credit(), unsettled[l]
		}
		switch {
		case l.consumer != nil:
			shown.Queue, shown.Settled = l.consumer.name, l.consumer.noAck
		case l.answers != nil:
			shown.Settled = l.answers.Settled
		}
		info.Links = append(info.Links, shown)
	}
	slices.SortFunc(info.Links, func(a, b mail.LinkInfo) int { return cmp.Compare(a.Handle, b.Handle) })
	return info
}
