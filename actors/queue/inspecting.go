package queue

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/inspect"
	"candlemark/actors/queue/work"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

// view is the queue as questions see it.
func (s *state) view() inspect.View {
	return inspect.View{
		Messages: &s.messages, Scheduled: s.scheduled, Consumers: &s.consumers, AckTimeouts: s.ackTimeouts,
		Style: s.style(), Limit: int(s.turnMost),
	}
}

// ask works on a question.
func (s *state) ask(asked mail.Answerable, q inspect.Question, now clock.Instant) {
	s.pending.Start(&work.Work{
		Expires: true, Asked: asked,
		Step: func(clock.Instant) bool { return q.Step() },
		End:  func(clock.Instant) { s.answerWith(asked, q.Answer()) },
	}, now)
}

// answerWith sends an answer, when what it wants was read.
func (s *state) answerWith(asked mail.Answerable, a inspect.Answer) {
	if len(a.Want) == 0 {
		s.send(a.To, a.Reply)
		return
	}
	s.out.lookups = append(s.out.lookups, &lookup{asked: asked, want: a.Want, found: func(contents []store.Content, _ clock.Instant) {
		a.Found(contents)
		s.send(a.To, a.Reply)
	}})
}
