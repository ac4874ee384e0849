package peers

import (
	"candlemark/actors/client/qos"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
)

// QueueLink is the channel's record of a queue.
type QueueLink struct {
	unacked.Queue
	requester   bool // a channel that consumes direct replies, perhaps this one
	target      bool // so far only a target of publishes
	unconfirmed int  // unanswered publishes
	published   int  // publishes to be confirmed, since the start
	looked      int  // value of published when the queue was last found gone
}

// Published counts a publish that the peer has to confirm.
func (p *QueueLink) Published() {
	p.unconfirmed++
	p.published++
}

// Unconfirmed returns the number of unanswered publishes.
func (p *QueueLink) Unconfirmed() int { return p.unconfirmed }

// Watcher is the channel.
type Watcher interface {
	qos.Sender
	// Watch watches an actor: PeerGone arrives when it has ended.
	Watch(actor mail.Address)
	// Unwatch ends the watch.
	Unwatch(actor mail.Address)
}

// QueueLinks are the peers of a channel. They are created by New.
type QueueLinks struct {
	out     Watcher
	objects *budget.Holder // nil for no limit
	byID    map[string]*QueueLink
	targets int // peers known only as targets
	sweep   int // number of targets from which answered ones are forgotten if there is no room
}

// minTargets is the number of targets that a channel remembers at least.
const minTargets = 4

// New returns the Peers of a new channel. objects is charged with them.
func New(out Watcher, objects *budget.Holder) QueueLinks {
	return QueueLinks{out: out, objects: objects, byID: map[string]*QueueLink{}, sweep: minTargets}
}

// Of returns the record of a queue, created if necessary.
func (s *QueueLinks) Of(queue mail.Address) *QueueLink {
	p := s.Find(queue)
	if p == nil {
		return s.add(queue)
	}
	if p.target {
		p.target = false
		s.targets--
	}
	return p
}

// OfTarget does the same as Of for the target of a publish, which may be a consumer of direct replies. If there is no room
// for more, it forgets targets that have answered everything: they become Gone, and may be added again (PRO-21).
func (s *QueueLinks) OfTarget(target mail.Address, requester bool) *QueueLink {
	p := s.Find(target)
	if p == nil {
		if s.targets >= s.sweep && !s.objects.Spare(budget.PricePeer) {
			s.forgetTargets()
		}
		p = s.add(target)
		p.target = true
		s.targets++
	}
	p.requester = requester
	return p
}

// add adds a record. It exists even if there is no room for it.
func (s *QueueLinks) add(queue mail.Address) *QueueLink {
	p := &QueueLink{}
	p.Address = queue
	s.byID[queue.GetId()] = p
	s.objects.Hold(budget.PricePeer)
	if !mail.Same(queue, s.out.Self()) {
		s.out.Watch(queue)
	}
	return p
}

// Answered counts answers of a peer to publishes.
func (s *QueueLinks) Answered(p *QueueLink, n int) {
	p.unconfirmed -= n
	if s.targets > minTargets && p.idle() && !s.objects.Spare(budget.PricePeer) {
		s.forget(p)
	}
}

// forgetTargets forgets targets without unanswered publishes.
func (s *QueueLinks) forgetTargets() {
	for _, p := range s.byID {
		if p.idle() {
			s.forget(p)
		}
	}
	s.sweep = max(minTargets, 2*s.targets)
}

// idle reports whether nothing would be lost with the record.
func (p *QueueLink) idle() bool { return p.target && p.unconfirmed == 0 && !p.Gone }

// forget forgets an idle peer.
func (s *QueueLinks) forget(p *QueueLink) {
	s.remove(p)
	if !mail.Same(p.Address, s.out.Self()) {
		s.out.Unwatch(p.Address)
	}
}

func (s *QueueLinks) remove(p *QueueLink) {
	p.Gone = true
	delete(s.byID, p.Address.GetId())
	s.objects.Hold(-budget.PricePeer)
	if p.target {
		s.targets--
	}
}

// Find returns the record of a queue, nil if there is none.
func (s *QueueLinks) Find(queue mail.Address) *QueueLink { return s.byID[mail.ID(queue)] }

// Gone removes and returns a queue that has ended, after all its mail was handled: unanswered publishes will not be
// answered. It returns nil if the queue is not known, or if mail that was sent after its end is still being answered;
// then PeerGone arrives again.
func (s *QueueLinks) Gone(who mail.Address) *QueueLink {
	p := s.Find(who)
	if p == nil {
		return nil
	}
	if p.unconfirmed > 0 && p.published > p.looked {
		p.looked = p.published
		s.out.Send(s.out.Self(), &mail.PeerGone{Who: who})
		return nil
	}
	s.remove(p)
	return p
}

// Unwatch ends all watches.
func (s *QueueLinks) Unwatch() {
	for _, p := range s.byID {
		s.out.Unwatch(p.Address)
	}
}

// Leave reports to every queue that the channel has left, and removes all queues. Queues without a record of the
// channel ignore it.
func (s *QueueLinks) Leave() {
	s.Unwatch()
	for _, p := range s.byID {
		if !p.requester {
			s.out.Send(p.Address, &mail.ChannelGone{Channel: s.out.Self()})
		}
	}
	s.objects.Hold(-budget.PricePeer * int64(len(s.byID)))
	clear(s.byID)
	s.targets = 0
}
