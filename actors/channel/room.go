package channel

import (
	"candlemark/protocol"
)

// mayKeep is called before anything of a content is kept beyond the read that it came
// in. It checks what can be checked without the body, and asks for room for all of
// it; false says that it has to wait for that. What a channel that is leaving has
// in hand is all that will come, and needs no room.
func (s *state) mayKeep() bool {
	a := &s.assembler
	if a.held || a.refusal != nil || s.leaving {
		return true
	}
	var c checked
	if err := s.check(a, &c); err != nil {
		a.refuse(err)
		return true
	}
	s.asked++
	a.held = a.room.Ask(s.cfg.Arrivals, a.bytes(), s.asked, s.decided)
	return a.held
}

// waitForRoom leaves the read as it is until decided. It is the result of run.
func (s *state) waitForRoom() bool {
	s.flush()
	s.chunk = nil
	s.await = &await{method: publishMethod, room: s.asked}
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
	if s.assembler.held = d.granted; !d.granted {
		s.assembler.refuse(protocol.ChannelErrorf(protocol.PreconditionFailed,
			"no memory for a message of %d bytes besides the others that this connection has begun", s.assembler.size))
	}
}
