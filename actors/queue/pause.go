package queue

import (
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// pausing is the part that stops deliveries until a time (PAUSE-1).
type pausing struct {
	base
	hold deliveries.Hold
}

// is reports whether the queue is paused, or may become so.
func (s *pausing) is() bool {
	return s.hold.On() || s.hold.ByCommand() || s.messages.Settings.PausedUntil != 0
}

func (s *pausing) Next() (int64, bool)                                   { return s.hold.Next() }
func (s *pausing) Advance(now clock.Instant) (more bool)                 { return s.hold.Advance(now) }
func (s *pausing) Settings(_ *policies.QueueSettings, now clock.Instant) { s.hold.Advance(now) }
func (s *pausing) Busy() bool                                            { return s.hold.ByCommand() }
func (s *pausing) Noted() bool                                           { return s.hold.Noted() }
func (s *pausing) Restore(n *store.Recovered) (taken bool)               { return s.hold.Restore(n) }

func (s *pausing) Figures(f *figures) {
	if !s.hold.On() {
		return
	}
	f.values[queuestats.Paused] = 1
	if f.info != nil {
		f.info.PausedUntil = s.hold.Ends()
	}
}

func (s *pausing) Handle(received any, now clock.Instant) (taken bool) {
	m, taken := received.(*mail.PauseQueue)
	if taken {
		s.hold.Execute(m, now)
	}
	return taken
}
