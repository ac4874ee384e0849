package qos

import (
	"slices"

	"candlemark/actors/system/mail"
)

// Sender is the channel.
type Sender interface {
	// Self returns the channel's address.
	Self() mail.Address
	// Send sends a mail at the end of the turn, in order.
	Send(to mail.Address, what any)
}

// Queue is a queue that the channel's consumers use.
type Queue struct {
	Address   mail.Address
	consumers int
	allowed   int // allowed and not delivered yet, by the queue's count
	reclaimed bool
}

// Consuming reports whether the channel has consumers at the queue.
func (q *Queue) Consuming() bool { return q.consumers > 0 }

// Limit is the common limit of a channel. It is created by New.
type Limit struct {
	out     Sender
	queues  []*Queue // queues with consumers of the channel
	limit   int      // messages, 0 for none
	unacked int      // unacked deliveries to consumers, counted even without a limit
	allowed int      // allowed and not delivered yet, over all queues
	offers  []offer
	idle    []*Queue // queues that ask for one message in advance
}

type offer struct {
	queue    *Queue
	messages int
}

// New returns the Limit of a channel, initially without a limit.
func New(out Sender) Limit { return Limit{out: out} }

// Messages returns the limit, 0 for none.
func (l *Limit) Messages() int { return l.limit }

// Set sets the limit, 0 for none.
func (l *Limit) Set(n int) {
	before := l.limit
	l.limit = n
	if before > 0 != (n > 0) {
		for _, q := range l.queues {
			l.out.Send(q.Address, &mail.QosLimited{Channel: l.out.Self(), On: n > 0})
		}
		l.offers, l.idle = nil, nil
	}
	l.Allow()
}

// Resize sends a new prefetch to all queues with consumers.
func (l *Limit) Resize(prefetch int) {
	for _, q := range l.queues {
		l.out.Send(q.Address, &mail.SetPrefetch{Channel: l.out.Self(), Prefetch: prefetch})
	}
}

// Attach counts a consumer.
func (l *Limit) Attach(q *Queue) {
	if q.consumers++; q.consumers == 1 {
		l.queues = append(l.queues, q)
	}
}

// Detach uncounts a consumer, and frees the allowance that only it could use.
func (l *Limit) Detach(q *Queue) {
	if q.consumers--; q.consumers == 0 {
		l.queues = slices.DeleteFunc(l.queues, func(x *Queue) bool { return x == q })
		l.disallow(q, q.allowed)
	}
}

// Delivered counts a delivery to a consumer.
func (l *Limit) Delivered(q *Queue) {
	l.unacked++
	l.disallow(q, 1)
}

// Settled uncounts a delivery.
func (l *Limit) Settled() { l.unacked-- }

// Offered records that a queue has the given number of messages for consumers under the limit; 0 asks for one in
// advance.
func (l *Limit) Offered(q *Queue, messages int) {
	switch {
	case l.limit == 0:
		return
	case messages > 0:
		i := slices.IndexFunc(l.offers, func(o offer) bool { return o.queue == q })
		if i < 0 {
			i = len(l.offers)
			l.offers = append(l.offers, offer{queue: q})
		}
		l.offers[i].messages = messages
	case !slices.Contains(l.idle, q):
		l.idle = append(l.idle, q)
	}
	l.Allow()
}

// Waiting reports whether there are offers that did not fit.
func (l *Limit) Waiting() bool { return len(l.offers)+len(l.idle) > 0 }

// Allow answers offers in order while the limit leaves room; the rest is allowed in advance.
func (l *Limit) Allow() {
	for len(l.offers) > 0 && l.unacked+l.allowed < l.limit {
		o := l.offers[0]
		l.offers = l.offers[1:]
		l.allow(o.queue, o.messages)
	}
	for len(l.idle) > 0 && l.unacked+l.allowed < l.limit {
		q := l.idle[0]
		l.idle = l.idle[1:]
		l.allow(q, 1)
	}
	switch {
	case l.limit > 0 && l.allowed > 0 && l.unacked+l.allowed > l.limit: // the limit was lowered
		l.reclaim(nil)
	case len(l.offers) > 0 && l.unacked < l.limit:
		l.reclaim(l.offers[0].queue)
	}
}

func (l *Limit) allow(q *Queue, n int) {
	if q.consumers == 0 {
		return
	}
	n = min(n, l.limit-l.unacked-l.allowed)
	l.allowed += n
	q.allowed += n
	q.reclaimed = false
	l.out.Send(q.Address, &mail.QosAllow{Queue: q.Address, Channel: l.out.Self(), Messages: n})
}

// reclaim reclaims allowances that may not be needed from all queues except needy.
func (l *Limit) reclaim(needy *Queue) {
	for _, q := range l.queues {
		if q != needy && q.allowed > 0 && !q.reclaimed {
			q.reclaimed = true
			l.out.Send(q.Address, &mail.QosReclaim{Channel: l.out.Self()})
		}
	}
}

// Unused returns an allowance that a queue did not use.
func (l *Limit) Unused(q *Queue, messages int) {
	q.reclaimed = false
	l.disallow(q, messages)
	l.Allow()
}

// disallow subtracts up to n from the allowance of a queue: it was used or returned, or the queue has no more
// consumers.
func (l *Limit) disallow(q *Queue, n int) {
	n = min(n, q.allowed)
	q.allowed -= n
	l.allowed -= n
}

// Load returns the number of unacked deliveries to consumers, and of further allowed messages.
func (l *Limit) Load() (unacked, allowed int) { return l.unacked, l.allowed }
