package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/inspect"
	"candlemark/internal/clock"
)

// workLimit is how many messages a command touches in one turn, and how many are
// delivered in one. What is above it goes on in further turns (ADR 29).
const workLimit = 4096

// unparkLimit is how many parked mails are handled in one turn of the actor, as many
// as the dispatcher hands over at a time.
const unparkLimit = 32

// ownMail reports whether mail does not wait for work: it belongs to the queue itself, or frees it.
func ownMail(what any) bool {
	switch what.(type) {
	case again, timerFired, appendDone, loaded, *mail.DeadLetterReply:
		return true
	}
	return false
}

// beginPreview takes the place of a preview that is under way.
func beginPreview(s *state, m *mail.PreviewSettings) {
	dropPreview(s, mail.Unseen)
	s.preview = inspect.NewPreview(m, &s.Settings)
}

// goOnPreview looks at more messages, and reports whether there are others.
func goOnPreview(s *state, now clock.Instant) (more bool) {
	switch {
	case s.preview == nil:
		return false
	case s.phase >= draining:
		dropPreview(s, mail.Gone)
		return false
	}
	kept, _ := s.DeadLetters.Retained()
	answer := s.preview.Step(&s.Backlog, &s.Expiry, now, int(s.turnMost), kept, s.Skew)
	if answer == nil {
		return true
	}
	s.out.Send(s.preview.Asked.ReplyTo, answer)
	s.preview = nil
	return false
}

// dropPreview answers that there will be none.
func dropPreview(s *state, why mail.Fate) {
	if s.preview != nil {
		s.out.Send(s.preview.Asked.Answer(why))
		s.preview = nil
	}
}
