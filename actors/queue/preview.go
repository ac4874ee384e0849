package queue

import (
	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// preview is the part that counts what other settings would do to the messages, in several turns.
type preview struct {
	base
	current *inspect.Preview // nil if it has been answered
}

// previewing takes the command that starts a preview.
type previewing struct{ s *state }

// Handle starts a preview. One in progress is abandoned.
func (p previewing) Handle(received any, _ clock.Instant) (taken bool) {
	m, taken := received.(*mail.PreviewSettings)
	if !taken {
		return false
	}
	s := p.s
	if s.preview != nil && s.preview.current != nil {
		s.out.Send(s.preview.current.Asked.Answer(mail.Unseen))
	}
	s.preview = &preview{base{&s.host}, inspect.NewPreview(m, &s.messages.Settings)}
	s.dueNow = true
	return true
}

// Next is at once.
func (s *preview) Next() (int64, bool) { return s.messages.Journal.At, true }

// Advance examines more messages.
func (s *preview) Advance(now clock.Instant) (more bool) {
	kept, _ := s.messages.DeadLetters.Retained()
	answer := s.current.Step(&s.messages.Backlog, &s.messages.Expiry, now, int(s.turnLimit), kept, s.messages.Dates)
	if answer == nil {
		return true
	}
	s.out.Send(s.current.Asked.ReplyTo, answer)
	s.current = nil
	return false
}

func (s *preview) Busy() bool { return true }

func (s *preview) End() (waiting []mail.Answerable) {
	waiting, s.current = append(waiting, s.current.Asked), nil
	return waiting
}
