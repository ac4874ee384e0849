package queue

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// queries takes the queries about messages.
type queries struct{ s *state }

func (q queries) Handle(received any, now clock.Instant) (taken bool) {
	s := q.s
	switch m := received.(type) {
	case *mail.Peek:
		s.renewedBy(policies.RenewedByPeek, expiry.LeasePeeked, now)
		s.ask(m, s.shown().Peek(m), now)
	case *mail.ListUnacked:
		s.ask(m, s.shown().ListUnacked(m), now)
	case *mail.Claim:
		q.claim(m, now)
	case *deliveries.LookedUp:
		m.Found(now)
	default:
		return false
	}
	return true
}

// claim takes messages for a move. Like basic.get, it counts as a use of the queue.
func (q queries) claim(m *mail.Claim, now clock.Instant) {
	s := q.s
	if !m.Look {
		s.lease.Renew(now.Ceil(), expiry.LeaseGot)
	}
	c := deliveries.TakeClaim(m, &s.messages, &s.consumers, func() *consumers.Holder { return s.Open(m.ReplyTo) }, now)
	s.out.answer(m, inspect.Answer{To: m.ReplyTo, Reply: c.Reply, Want: c.Want, Found: c.Found})
}
