package channel

import (
	"candlemark/actors/client/channel/assembler"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// mayKeep is called before a part of a content is kept beyond its read. It makes the checks that need no body, and
// requests room for all of the content. It returns false if the content has to wait for room. A channel that is leaving
// gets no more input, and needs no room.
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

// mayDecode is called before a frame is handled. It requests room for the decoded arguments of a method (PRO-21), and returns
// false if the frame has to wait for that.
func (s *state) mayDecode(f protocol.Frame) bool {
	if f.Type != protocol.FrameMethod || s.phase != open || s.assembler.Busy() {
		return true
	}
	bytes := protocol.ArgumentsMemory(f.Payload, budget.FreeCommand)
	if bytes <= budget.FreeCommand {
		return true
	}
	number := s.asked + 1
	if s.arguments.Ask(s.cfg.Objects, bytes, func() { s.decided(number, true) }) {
		return true
	}
	s.asked = number
	return false
}

// waitForRoom stops processing of the read until decided. Its result is the result of run.
func (s *state) waitForRoom() bool {
	s.flush()
	s.chunk = nil
	s.await = &await{method: assembler.PublishMethod, room: s.asked}
	return false
}

// decision is mail from the intake, whether a content gets room, or from the connection's objects: arguments get room.
type decision struct {
	number  uint64
	granted bool
}

// decide continues with a content that waited for room.
func (s *state) decide(d decision) {
	if s.await == nil || s.await.room != d.number {
		return
	}
	s.await = nil
	if s.assembler.Busy() {
		s.assembler.Decide(d.granted)
	}
}
