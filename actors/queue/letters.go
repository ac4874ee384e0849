package queue

import (
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/policies"
)

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

// Figures counts forwarded messages as ready. In a queue that is ending, all dead letters are its
// messages.
func (s letters) Figures(f *figures) {
	c := s.messages.DeadLetters.Counts()
	ready := c.Forwarding
	if s.phase == ending {
		ready = c.Len
	}
	f.numbers[metrics.Ready] += int64(ready)
	f.numbers[metrics.ReadyBytes] += c.ForwardingBytes
	f.numbers[metrics.UnackedBytes] -= c.ForwardingBytes
	if f.info == nil {
		return
	}
	f.info.DeadLetters, f.info.Retrying = c.Len, c.Waiting
	if at, ok := s.messages.DeadLetters.Next(); ok {
		f.info.NextAttempt = s.messages.Dates.Date(at)
	}
}
