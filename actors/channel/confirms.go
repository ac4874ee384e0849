package channel

import "candlemark/actors/mail"

// tell appends the turn's confirms to the outbox if there is room. False: they
// are put off.
func (s *state) tell() bool {
	if !s.confirms.Due() {
		return true
	}
	if s.phase != open {
		s.confirms.Forget()
		return true
	}
	if s.output.Full() || !s.output.Offer(func(b []byte) []byte { return s.confirms.Append(b, s.cfg.ID) }) {
		s.confirms.PutOff()
		return false
	}
	return true
}

// tellAll is tell at the end, when there is no later.
func (s *state) tellAll() {
	if s.phase != open || !s.confirms.Due() {
		return
	}
	s.output.Force(func(b []byte) []byte { return s.confirms.Append(b, s.cfg.ID) })
}

// settled takes a queue's answer to a batch.
func (s *state) settled(m *mail.EnqueueReply) {
	p := s.peers.Find(m.Queue)
	for _, r := range m.Ranges {
		if s.confirms.On() {
			s.confirms.Answered(r, m.Refused)
		} else {
			s.committed(r, m.Refused)
		}
		if p != nil {
			p.Answered(int(r.Last - r.First + 1))
		}
	}
}
