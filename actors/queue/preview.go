package queue

import (
	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// previews is the part that counts what other settings would do to the messages, in several turns.
type previews struct {
	base
	current *inspect.Preview // nil if none is in progress
}

// Handle starts a preview. One in progress is abandoned.
func (s *previews) Handle(received any, _ clock.Instant) (taken bool) {
	m, taken := received.(*mail.PreviewSettings)
	if !taken {
		return false
	}
	for _, asked := range s.End() {
		s.out.Send(asked.Answer(mail.Unseen))
	}
	s.current, s.dueNow = inspect.NewPreview(m, &s.messages.Settings), true
	return true
}

// Next is at once.
func (s *previews) Next() (int64, bool) { return s.messages.Journal.At, true }

// Advance examines more messages.
func (s *previews) Advance(now clock.Instant) (more bool) {
	kept, _ := s.messages.DeadLetters.Retained()
	answer := s.current.Step(&s.messages.Backlog, &s.messages.Expiry, now, int(s.turnLimit), kept, s.messages.Dates)
	if answer == nil {
		return true
	}
	s.out.Send(s.current.Asked.ReplyTo, answer)
	s.current = nil
	return false
}

func (s *previews) Busy() bool { return true }

func (s *previews) End() (waiting []mail.Answerable) {
	if s.current != nil {
		waiting, s.current = append(waiting, s.current.Asked), nil
	}
	return waiting
}
