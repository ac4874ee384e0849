package queue

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// These parts have no fields of their own: they act on what every queue has.

// loaded: the contents of the messages with these handles were read.
type loaded struct {
	handles  []backlog.Handle
	contents []store.Content
	bytes    int64 // according to Orders
}

// reading is the part that reads contents, and pauses after a failed read.
type reading struct{ base }

func (s reading) Resume(now clock.Instant) { s.messages.Pager.Resume(now) }

// expiring is the part that expires ready messages.
type expiring struct{ base }

func (s expiring) Next() (int64, bool) { return s.messages.Expiry.Next() }

// Advance continues the computation of new deadlines, and expires messages.
func (s expiring) Advance(now clock.Instant) (more bool) {
	more = s.messages.Expiry.Recompute(messages.TurnLimit)
	return s.messages.ExpireDue(now) || more
}

// Settings has deadlines computed anew if the policy says so (TTL-25); otherwise messages keep theirs (TTL-24). If the queue is
// recovering, the computation begins when it wakes.
func (s expiring) Settings(before *policies.QueueSettings, _ clock.Instant) {
	if before != nil && s.phase != ending {
		s.messages.Expiry.Follow(before)
	}
}

// locks is the part with the deadlines of unacked deliveries. It takes the commands about them.
type locks struct{ base }

func (s locks) Next() (int64, bool) { return s.deliveries.Timeouts.Next() }

func (s locks) Advance(now clock.Instant) (more bool) {
	return s.deliveries.Expire(now, func(c *consumers.Consumer) { s.Detach(c, now) })
}

func (s locks) Slept(ms int64, _ clock.Instant) { s.deliveries.Timeouts.Postpone(ms) }
func (s locks) Figures(f *figures)              { f.values[queuestats.Timed] += int64(s.deliveries.Timeouts.Len()) }

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

// letters is the part with the dead letters and the forwarded messages that have not arrived.
type letters struct{ base }

func (s letters) Next() (int64, bool)      { return s.messages.DeadLetters.Next() }
func (s letters) Resume(now clock.Instant) { s.messages.DeadLetters.Retry(now, s.messages.Dates) }

// Settings has dead letters dropped if their exchange was taken away.
func (s letters) Settings(before *policies.QueueSettings, now clock.Instant) {
	if before != nil && before.HasDLX && !s.messages.Settings.HasDLX {
		s.messages.DeadLetters.RetryNow(now)
	}
}

// Figures counts forwarded messages as ready, and in a queue that is ending all dead letters.
func (s letters) Figures(f *figures) {
	c := s.messages.DeadLetters.Counts()
	ready := c.Forwarding
	if s.phase == ending {
		ready = c.Len
	}
	v := &f.values
	v[queuestats.Ready] += int64(ready)
	v[queuestats.ReadyBytes] += c.ForwardingBytes
	v[queuestats.UnackedBytes] -= c.ForwardingBytes
	v[queuestats.DeadLetters], v[queuestats.Retrying] = int64(c.Len), int64(c.Waiting)
	if at, ok := s.messages.DeadLetters.Next(); ok && f.info != nil {
		f.info.NextAttempt = s.messages.Dates.Date(at)
	}
}
