package queue

import (
	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// MaxFlowDelay is how long credit is withheld at most, in ms.
const MaxFlowDelay = consumers.MaxFlowDelay

// withholding is the part of a queue that withholds credit. A nil *withholding withholds none.
type withholding struct {
	base
	control consumers.FlowControl
}

// withhold withholds credit from the sender of a batch if it is faster than the consumers.
func withhold(s *state, e *mail.Enqueue, now clock.Instant) {
	if s.messages.Backlog.Ready() == 0 || s.consumers.Len() == 0 || s.consumers.Paused() {
		return
	}
	if s.flow == nil {
		s.flow = &withholding{base: base{&s.host}}
	}
	s.flow.control.Hold(e, s.flow.delivered(), (now + s.messages.Pager.Apart).Floor())
}

// delivered returns the number of deliveries to consumers so far.
func (s *withholding) delivered() uint64 {
	return s.messages.Counts.Deliver + s.messages.Counts.DeliverNoAck
}

// EndTurn selects the credit that need not be withheld any more.
func (s *withholding) EndTurn(now clock.Instant) {
	if s != nil {
		all := s.phase != live || s.messages.Backlog.Ready() == 0 || s.consumers.Len() == 0 || s.consumers.Paused()
		s.control.Release(all, s.delivered(), (now + s.messages.Pager.Apart).Floor())
	}
}

// ReleaseCredit returns the selected credit to its connections.
func (s *withholding) ReleaseCredit() {
	if s != nil {
		s.control.ReleaseCredit()
	}
}

// Due returns when EndTurn has to be called at the latest, in ms of real time.
func (s *withholding) Due() (at int64, ok bool) {
	if s == nil {
		return 0, false
	}
	return s.control.Next()
}

// End returns all credit.
func (s *withholding) End() []mail.Answerable {
	s.control.Release(true, 0, 0)
	return nil
}
