package channel

import "candlemark/actors/channel/assembler"

// mayKeep is called before anything of a content is kept beyond the read that it came
// in. It checks what can be checked without the body, and asks for room for all of
// it; false says that it has to wait for that. What a channel that is leaving has
// in hand is all that will come, and needs no room.
func (s *state) mayKeep() bool {
	a := &s.assembler
	if a.Settled() || s.leaving {
		return true
	}
	var c checked
	if err := s.check(a, &c); err != nil {
		a.Refuse(err)
		return true
	}
	s.asked++
	return a.Ask(s.cfg.Arrivals, s.asked, s.decided)
}

// waitForRoom leaves the read as it is until decided. It is the result of run.
func (s *state) waitForRoom() bool {
	s.flush()
	s.chunk = nil
	s.await = &await{method: assembler.PublishMethod, room: s.asked}
	return false
}

// decision is mail of the intake: there is room for a content, or there never will
// be.
type decision struct {
	number  uint64
	granted bool
}

// decide goes on with a content that waited.
func (s *state) decide(d decision) {
	if s.await == nil || s.await.room != d.number {
		return
	}
	s.await = nil
	s.assembler.Decide(d.granted)
}
