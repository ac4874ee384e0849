package session

import (
	"cmp"
	"slices"

	"candlemark/actors/mail"
)

// sessionInfo describes the windows and the links of a session.
func sessionInfo(s *state) *mail.SessionInfo {
	w := &s.windows
	info := &mail.SessionInfo{
		HandleMax: min(s.cfg.HandleMax, handleMax), NextIncomingID: w.NextIncoming, IncomingWindow: w.Incoming,
		NextOutgoingID: w.NextOutgoing, RemoteIncomingWindow: w.RemoteIncoming,
	}
	unsettled := map[*link]int{}
	s.owners.Each(func(_ uint64, l *link) bool {
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
