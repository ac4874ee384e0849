package peers

import (
	"candlemark/actors/channel/qos"
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
)

// Peer is the channel's record of a queue.
type Peer struct {
	unacked.Queue
	requester   bool // a channel that consumes direct replies, perhaps this one
	unconfirmed int  // unanswered publishes
	published   int  // publishes to be confirmed, since the start
	looked      int  // value of published when the queue was last found gone
}

// Published counts a publish that the peer has to confirm.
func (p *Peer) Published() {
	p.unconfirmed++
	p.published++
}

// Answered counts answers to publishes.
func (p *Peer) Answered(n int) { p.unconfirmed -= n }

// Unconfirmed returns the number of unanswered publishes.
func (p *Peer) Unconfirmed() int { return p.unconfirmed }

// Watcher is the channel.
type Watcher interface {
	qos.Sender
	// Watch watches an actor: PeerGone arrives when it has ended.
	Watch(actor mail.Address)
	// Unwatch ends the watch.
	Unwatch(actor mail.Address)
}

// Peers are the peers of a channel. They are created by New.
type Peers struct {
	out  Watcher
	byID map[string]*Peer
}

// New returns the Peers of a new channel.
func New(out Watcher) Peers { return Peers{out: out, byID: map[string]*Peer{}} }

// Of returns the record of a queue, created if necessary.
func (s *Peers) Of(queue mail.Address) *Peer {
	p := s.Find(queue)
	if p == nil {
		p = &Peer{}
		p.Address = queue
		s.byID[queue.GetId()] = p
		if !mail.Same(queue, s.out.Self()) {
			s.out.Watch(queue)
		}
	}
	return p
}

// OfTarget does the same as Of for the target of a publish, which may be a consumer of direct replies.
func (s *Peers) OfTarget(target mail.Address, requester bool) *Peer {
	p := s.Of(target)
	p.requester = requester
	return p
}

// Find returns the record of a queue, nil if there is none.
func (s *Peers) Find(queue mail.Address) *Peer { return s.byID[mail.ID(queue)] }

// Gone removes and returns a queue that has ended, after all its mail was handled: unanswered publishes will not be
// answered. It returns nil if the queue is not known, or if mail that was sent after its end is still being answered;
// then PeerGone arrives again.
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

// Unwatch ends all watches.
func (s *Peers) Unwatch() {
	for _, p := range s.byID {
		s.out.Unwatch(p.Address)
	}
}

// Leave reports to every queue that the channel has left, and removes all queues. Queues without a record of the
// channel ignore it.
func (s *Peers) Leave() {
	s.Unwatch()
	for _, p := range s.byID {
		if !p.requester {
			s.out.Send(p.Address, &mail.ChannelGone{Channel: s.out.Self()})
		}
	}
	clear(s.byID)
}
