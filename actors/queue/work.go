package queue

import (
	"candlemark/actors/queue/inspect"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
)

// workLimit is the limit of messages that a command handles, and of messages delivered, in one turn. The rest follows
// in further turns (ADR 29).
const workLimit = 4096

// unparkLimit is the limit of parked mails handled in one turn of the actor: as many as the dispatcher delivers at a
// time.
const unparkLimit = 32

// ownMail reports whether mail is handled while a command is in progress: mail of the queue itself, and mail that
// frees memory.
func ownMail(received any) bool {
	switch received.(type) {
	case again, timerFired, appendDone, loaded, *mail.DeadLetterReply:
		return true
	}
	return false
}

// beginPreview starts a preview. One in progress is abandoned.
func beginPreview(s *state, m *mail.PreviewSettings) {
	dropPreview(s, mail.Unseen)
	s.preview = inspect.NewPreview(m, &s.Settings)
}

// continuePreview examines more messages, and reports whether any are left.
func continuePreview(s *state, now clock.Instant) (more bool) {
	switch {
	case s.preview == nil:
		return false
	case s.phase >= ending:
		dropPreview(s, mail.Gone)
		return false
	}
	kept, _ := s.DeadLetters.Retained()
	answer := s.preview.Step(&s.Backlog, &s.Expiry, now, int(s.turnLimit), kept, s.Dates)
	if answer == nil {
		return true
	}
	s.out.Send(s.preview.Asked.ReplyTo, answer)
	s.preview = nil
	return false
}

// dropPreview abandons the preview and answers its command according to why.
func dropPreview(s *state, why mail.Cause) {
	if s.preview != nil {
		s.out.Send(s.preview.Asked.Answer(why))
		s.preview = nil
	}
}
