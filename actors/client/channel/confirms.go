package channel

import (
	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
)

// sendConfirms sends the turn's confirms to the client if there is room. Otherwise it postpones them and returns false.
func (s *state) sendConfirms() bool {
	if s.in.Phase != input.Open {
		s.confirms.Forget()
		return true
	}
	return s.output.Confirm(&s.confirms)
}

// settled handles a queue's answer to a batch.
func (s *state) settled(m *mail.EnqueueReply) {
	p := s.queues.Peers.Find(m.Queue)
	for _, r := range m.Ranges {
		if s.confirms.On() {
			s.confirms.Answered(r, m.Refused)
		} else if s.tx != nil && s.tx.Answered(r, m.Refused) {
			s.committed(s.waiting.method)
		}
		if p != nil {
			s.queues.Peers.Answered(p, int(r.Last-r.First+1))
		}
	}
}
