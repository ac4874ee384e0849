package channel

import (
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
)

// peer is a queue that owes the channel something, or the other way round. It
// is watched.
type peer struct {
	unacked.Queue
	requester   bool // a channel that gets replies, perhaps this one
	unconfirmed int  // publishes that it has not answered
	published   int  // to be confirmed, since the beginning
	looked      int  // published when the queue was last found gone
}

// peer finds or makes the channel's view of a queue.
func (s *state) peer(pid mail.Address) *peer {
	key := peerKey(pid)
	p := s.peers[key]
	if p == nil {
		p = &peer{}
		p.Address = pid
		s.peers[key] = p
		if key != peerKey(s.self) {
			s.watch = append(s.watch, pid)
		}
	}
	return p
}

func peerKey(pid mail.Address) string {
	if pid == nil {
		return ""
	}
	return pid.Id
}

// peerGone: a queue ended, and everything it had to say has been heard. It
// answers every publish before it ends, or somebody answers for it; if it did
// not, nobody knows what became of them.
func (s *state) peerGone(who mail.Address) {
	p := s.peers[peerKey(who)]
	if p == nil {
		return
	}
	if p.unconfirmed > 0 && p.published > p.looked {
		p.looked = p.published // what was sent after its end is answered behind this mail
		s.Send(s.self, &mail.PeerGone{Who: who})
		return
	}
	p.Gone = true
	delete(s.peers, peerKey(who))
	for tag, c := range s.consumers {
		if c.Queue == &p.Queue {
			s.consumerCancelled(&mail.ConsumerCancelled{Queue: who, Tag: tag})
		}
	}
	if p.unconfirmed > 0 {
		s.fail(internalError("queue process ended without confirming %d messages", p.unconfirmed), nil)
	}
}
