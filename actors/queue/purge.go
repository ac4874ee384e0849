package queue

import (
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/policies"
)

// purges takes the commands that remove messages.
type purges struct{ s *state }

func (p purges) Handle(received any, now clock.Instant) (taken bool) {
	s := p.s
	setup := deliveries.Purge{Messages: &s.messages, Pending: &s.pending, Out: &s.out.Posts, Limit: int(s.turnLimit), Noted: p.noted}
	switch m := received.(type) {
	case *mail.Purge:
		if err := mail.Locked(s.queue, m.Connection, s.vhost.Name); err != nil {
			s.out.Send(m.ReplyTo, &mail.PurgeReply{Reply: m.Done(err)})
			return true
		}
		s.renewedBy(policies.RenewedByUpdate, expiry.LeaseUpdated, now)
		setup.All(m, now)
	case *mail.DeleteMessages:
		s.renewedBy(policies.RenewedByUpdate, expiry.LeaseUpdated, now)
		setup.Oldest(m, now)
	default:
		return false
	}
	return true
}

// noted reports whether the journal has records that are no messages.
func (p purges) noted() (is bool) {
	p.s.each(func(p part) {
		x, ok := p.(noter)
		is = is || ok && x.Noted()
	})
	return is
}
