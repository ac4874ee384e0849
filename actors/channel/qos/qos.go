package qos

import (
	"slices"

	"candlemark/actors/mail"
)

// Sender is the channel, which sends what is decided.
type Sender interface {
	// Self is the channel's address.
	Self() mail.Address
	// Send sends a mail at the end of the turn, in order.
	Send(to mail.Address, what any)
}

// Queue is a queue as a channel's consumers see it.
type Queue struct {
	Address   mail.Address
	consumers int
	allowed   int // and not delivered yet, as the queue counts it
	reclaimed bool
}

// Consuming tells whether the channel has consumers there.
func (q *Queue) Consuming() bool { return q.consumers > 0 }

// Limit is the limit of a channel. It is made by New.
type Limit struct {
	out     Sender
	queues  []*Queue // where the channel consumes
	limit   int      // messages, 0 for none
	unacked int      // delivered to consumers and not settled, whether there is a limit or not
	allowed int      // and not delivered yet, over all queues
	offers  []offer
	idle    []*Queue // that would take one in advance
}

type offer struct {
	queue    *Queue
	messages int
}

// New makes one of a channel that has no limit.
func New(out Sender) Limit { return Limit{out: out} }

// Messages is the limit, 0 for none.
func (l *Limit) Messages() int { return l.limit }

// Set sets the limit, 0 for none.
func (l *Limit) Set(n int) {
	before := l.limit
	l.limit = n
	if before > 0 != (n > 0) {
		for _, q := range l.queues {
			l.out.Send(q.Address, &mail.Limit{Channel: l.out.Self(), On: n > 0})
		}
		l.offers, l.idle = nil, nil
	}
	l.Allow()
}

// Resize tells every queue where the channel consumes of another prefetch.
func (l *Limit) Resize(prefetch int) {
	for _, q := range l.queues {
		l.out.Send(q.Address, &mail.Resize{Channel: l.out.Self(), Prefetch: prefetch})
	}
}

// Attach counts a consumer.
func (l *Limit) Attach(q *Queue) {
	if q.consumers++; q.consumers == 1 {
		l.queues = append(l.queues, q)
	}
}

// Detach counts a consumer no longer; what only it could have used is free.
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

// Settled counts one of them no longer.
func (l *Limit) Settled() { l.unacked-- }

// Offered notes that a queue has so many messages for consumers under the limit;
// 0 asks for one in advance.
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

// Waiting tells whether there are offers that there was no room for.
func (l *Limit) Waiting() bool { return len(l.offers)+len(l.idle) > 0 }

// Allow answers offers in their order while there is room under the limit; what
// room is left is given in advance.
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
	case l.limit > 0 && l.allowed > 0 && l.unacked+l.allowed > l.limit: // it was lowered
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
	l.out.Send(q.Address, &mail.Allow{Queue: q.Address, Channel: l.out.Self(), Messages: n})
}

// reclaim asks queues for what they were allowed and may not need, but for the
// one that needs it.
func (l *Limit) reclaim(needy *Queue) {
	for _, q := range l.queues {
		if q != needy && q.allowed > 0 && !q.reclaimed {
			q.reclaimed = true
			l.out.Send(q.Address, &mail.Reclaim{Channel: l.out.Self()})
		}
	}
}

// Unused takes back what was allowed and not needed.
func (l *Limit) Unused(q *Queue, messages int) {
	q.reclaimed = false
	l.disallow(q, messages)
	l.Allow()
}

// disallow takes back up to n of what a queue was allowed: it is delivered, not
// needed, or will never come.
func (l *Limit) disallow(q *Queue, n int) {
	n = min(n, q.allowed)
	q.allowed -= n
	l.allowed -= n
}

// Load is how many messages are delivered to consumers and not settled, and how
// many more are allowed.
func (l *Limit) Load() (unacked, allowed int) { return l.unacked, l.allowed }
