package queue

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// host has what the parts of a queue share: the messages, those who take them, the lease, and the effects of a turn. The
// host knows no part.
type host struct {
	messages     messages.Messages
	queue        *topology.Queue
	vhost        *topology.VHost
	self         mail.Address
	phase        phase
	dueNow       bool   // handle deadlines at the end of this turn
	full         bool   // so much mail is held that the queue does nothing that it would tell of (records.Gate)
	consumerLeft bool   // in this turn, or while a command was in progress
	turnLimit    uint16 // limit of messages in one turn: workLimit; tests set others
	used         int64  // time of the last turn other than a query, wall ms
	busy         int64  // real time of that turn, ms
	handled      uint64 // number of the vhost's commands, for the end of the queue (PRO-3)
	lease        expiry.Lease
	consumers    consumers.Consumers
	deliveries   deliveries.Deliveries
	pending      deliveries.Pending
	source       source // of what is delivered
	out          outcome
}

// outcome holds the effects of a turn. The shell carries them out in the order of the fields (carryOut): a receiver of
// mail can rely on the effects of earlier fields only.
type outcome struct {
	// Posts are sent first, in order, deliveries last. Mail that may be sent only when records are durable is not
	// included: it waits in the commit (records), whose end is a mail.
	mail.Posts
	told int // how many Posts, the first ones, only tell what the journal has reported
	// done are batches to release once the mail about them is sent.
	done []*mail.Enqueue
	// watch are new channels to watch.
	watch []mail.Address
	// Lookups are read, like the pager's contents, after the turn's records are appended, because they may be messages
	// written in this turn.
	lookups deliveries.Lookups
	// again requests another turn at once. Otherwise the timer is armed.
	again bool
}

// answer sends an answer after reading the contents that it needs.
func (o *outcome) answer(asked mail.Answerable, a inspect.Answer) {
	if len(a.Want) == 0 {
		o.Send(a.To, a.Reply)
		return
	}
	o.lookups.LookUp(asked, a.Want, func(contents []store.Content, _ clock.Instant) {
		a.Found(contents)
		o.Send(a.To, a.Reply)
	})
}

// Open implements deliveries.Owner: it returns the queue's record of a channel. A new one is added, and its actor watched.
func (s *host) Open(channel mail.Address) *consumers.Holder {
	h, made := s.consumers.Open(channel)
	if made {
		s.out.watch = append(s.out.watch, channel)
	}
	return h
}

// Attach implements deliveries.ReceiverOwner: it attaches a consumer. The lease cannot end before it is detached (LEASE-4).
func (s *host) Attach(c *consumers.Consumer, exclusive bool) {
	s.consumers.Attach(c, exclusive)
	s.messages.Consumed = true
	s.lease.Hold()
}

// Detach implements deliveries.ReceiverOwner: it removes a consumer. Its unacked deliveries stay with the channel.
func (s *host) Detach(c *consumers.Consumer, now clock.Instant) {
	s.consumers.Cancel(c)
	s.detached(1, now)
}

// detached releases the lease of n consumers that were detached.
func (s *host) detached(n int, now clock.Instant) {
	s.consumerLeft = s.consumerLeft || n > 0
	s.messages.Consumed = s.consumers.Len() > 0
	for range n {
		s.lease.Release(now.Ceil(), expiry.LeaseLeft)
	}
}

// HoldLease implements deliveries.ReceiverOwner: a receiver that waits for a session holds the lease as a consumer does.
func (s *host) HoldLease(hold bool, now clock.Instant) {
	if hold {
		s.lease.Hold()
	} else {
		s.lease.Release(now.Ceil(), expiry.LeaseLeft)
	}
}

// renewedBy renews the lease for a use that counts only if expires-renewed-by names it (LEASE-4).
func (s *host) renewedBy(use policies.Renewals, by expiry.LeaseUse, now clock.Instant) {
	if s.messages.Settings.RenewedBy.Has(use) {
		s.lease.Renew(now.Ceil(), by)
	}
}

// ask starts answering a query, in several turns if necessary.
func (s *host) ask(asked mail.Answerable, q inspect.Query, now clock.Instant) {
	s.pending.Start(&deliveries.LongCommand{
		Expires: !q.Still, Asked: asked,
		Step: func(clock.Instant) bool { return q.Step() },
		End:  func(clock.Instant) { s.out.answer(asked, q.Answer()) },
	}, now)
}
