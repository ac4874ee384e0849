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
		HandleMax: min(s.cfg.HandleMax, handleMax), NextIncomingID: w.nextIncoming, IncomingWindow: w.incoming,
		NextOutgoingID: w.nextOutgoing, RemoteIncomingWindow: w.remoteIncoming,
	}
	unsettled := map[*link]int{}
	s.owners.Each(func(_ uint64, l *link) bool {
		unsettled[l]++
		return true
	})
	for _, l := range s.links {
		shown := mail.LinkInfo{Handle: l.handle, Name: l.name, Address: l.address}
		switch {
		case l.publisher != nil:
			shown.DeliveryCount, shown.Credit, shown.Unsettled = l.publisher.count, l.publisher.credit, l.publisher.open
		case l.consumer != nil:
			c := l.consumer
			shown.Receiver, shown.Queue, shown.Settled = true, c.name, c.noAck
			shown.DeliveryCount, shown.Credit, shown.Unsettled = c.count, c.credit(), unsettled[l]
		}
		info.Links = append(info.Links, shown)
	}
	slices.SortFunc(info.Links, func(a, b mail.LinkInfo) int { return cmp.Compare(a.Handle, b.Handle) })
	return info
}
