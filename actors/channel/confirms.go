package channel

import "candlemark/actors/mail"

// tell tells the client of the turn's confirms if there is room. False: they are
// put off.
func (s *state) tell() bool {
	if s.phase != open {
		s.confirms.Forget()
		return true
	}
	return s.output.Confirm(&s.confirms)
}

// settled takes a queue's answer to a batch.
func (s *state) settled(m *mail.EnqueueReply) {
	p := s.peers.Find(m.Queue)
	for _, r := range m.Ranges {
		if s.confirms.On() {
			s.confirms.Answered(r, m.Refused)
		} else if s.tx != nil && s.tx.Answered(r, m.Refused) {
			s.committed(s.await.method)
		}
		if p != nil {
			p.Answered(int(r.Last - r.First + 1))
		}
	}
}
