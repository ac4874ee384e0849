package queue

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// locks is the part with the deadlines of unacked deliveries. It takes the commands about them.
type locks struct{ base }

func (s locks) Next() (int64, bool) { return s.deliveries.Timeouts.Next() }

func (s locks) Advance(now clock.Instant) (more bool) {
	return s.deliveries.Expire(now, func(c *consumers.Consumer) { s.Detach(c, now) })
}

func (s locks) Slept(ms int64, _ clock.Instant) { s.deliveries.Timeouts.Postpone(ms) }
func (s locks) Figures(f *figures)              { f.timed += int64(s.deliveries.Timeouts.Len()) }

func (s locks) Handle(received any, now clock.Instant) (taken bool) {
	switch m := received.(type) {
	case *mail.RenewLock:
		s.deliveries.Renew(m, now)
	case *mail.SettleLocked:
		s.deliveries.SettleLocked(m, now)
	case *mail.ReturnDelivery:
		s.deliveries.RequeueOnRequest(m, now)
	case *mail.PrepareWork:
		s.deliveries.Prepare(m, now)
	case *mail.ReleaseWork:
		s.deliveries.Unprepare(m, now)
	default:
		return false
	}
	return true
}
