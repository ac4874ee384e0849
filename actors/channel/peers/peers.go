package peers

import (
	"candlemark/actors/channel/qos"
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
)

// Peer is a queue as the channel sees it.
type Peer struct {
	unacked.Queue
	requester   bool // a channel that gets replies, perhaps this one
	unconfirmed int  // publishes that it has not answered
	published   int  // to be confirmed, since the beginning
	looked      int  // published when the queue was last found gone
}

// Published counts a publish that the peer is to confirm.
func (p *Peer) Published() {
	p.unconfirmed++
	p.published++
}

// Answered counts answers to publishes.
func (p *Peer) Answered(n int) { p.unconfirmed -= n }

// Unconfirmed is how many publishes the peer has not answered.
func (p *Peer) Unconfirmed() int { return p.unconfirmed }

// Watcher is the channel, which watches its peers.
type Watcher interface {
	qos.Sender
	// Watch has PeerGone come when the actor has ended.
	Watch(actor mail.Address)
	// Unwatch ends that.
	Unwatch(actor mail.Address)
}

// Peers are those of a channel. They are made by New.
type Peers struct {
	out  Watcher
	byID map[string]*Peer
}

// New makes those of a channel that knows nobody.
func New(out Watcher) Peers { return Peers{out: out, byID: map[string]*Peer{}} }

// Of finds or makes the channel's view of a queue.
func (s *Peers) Of(queue mail.Address) *Peer {
	p := s.Find(queue)
	if p == nil {
		p = &Peer{}
		p.Address = queue
		s.byID[queue.GetId()] = p
		if queue.GetId() != s.out.Self().GetId() {
			s.out.Watch(queue)
		}
	}
	return p
}

// OfTarget is Of for the target of a publish, which may be a requester.
func (s *Peers) OfTarget(target mail.Address, requester bool) *Peer {
	p := s.Of(target)
	p.requester = requester
	return p
}

// Find is the channel's view of a queue, nil if it does not know it.
func (s *Peers) Find(queue mail.Address) *Peer { return s.byID[queue.GetId()] }

// Gone notes that a queue ended, and everything it had to say has been heard, and
// returns it: what it has not answered will never be. Nil: it is not known, or what
// was sent after its end is answered behind this mail; then PeerGone comes again.
func (s *Peers) Gone(who mail.Address) *Peer {
	p := s.Find(who)
	if p == nil {
		return nil
	}
	if p.unconfirmed > 0 && p.published > p.looked {
		p.looked = p.published
		s.out.Send(s.out.Self(), &mail.PeerGone{Who: who})
		return nil
	}
	p.Gone = true
	delete(s.byID, who.GetId())
	return p
}

// Unwatch ends the watching of all.
func (s *Peers) Unwatch() {
	for _, p := range s.byID {
		s.out.Unwatch(p.Address)
	}
}

// Leave tells every queue that the channel holds nothing more, and forgets them.
// Those that know nothing of it do not mind.
func (s *Peers) Leave() {
	s.Unwatch()
	for _, p := range s.byID {
		if !p.requester {
			s.out.Send(p.Address, &mail.ChannelGone{Channel: s.out.Self()})
		}
	}
	clear(s.byID)
}
