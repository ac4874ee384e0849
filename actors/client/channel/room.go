package channel

import (
	"candlemark/actors/client/channel/assembler"
	"candlemark/actors/client/input"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// mayKeep is called before a part of a content is kept beyond its read. It makes the checks that need no body, and
// requests room for all of the content. It returns false if the content has to wait for room. A channel that is leaving
// gets no more input, and needs no room.
func (s *state) mayKeep() bool {
	a := &s.assembler
	if a.Settled() || s.in.Leaving {
		return true
	}
	var c checked
	if err := s.check(a, &c); err != nil {
		a.Refuse(err)
		return true
	}
	return a.Ask(s.cfg.Arrivals, s.in.Number(), s.decided)
}

// mayDecode is called before a frame is handled. It requests room for the decoded arguments of a method (PRO-21), and returns
// false if the frame has to wait for that.
func (s *state) mayDecode(f protocol.Frame) bool {
	if f.Type != protocol.FrameMethod || s.in.Phase != input.Open || s.assembler.Busy() {
		return true
	}
	bytes := protocol.ArgumentsMemory(f.Payload, budget.FreeCommand)
	if bytes <= budget.FreeCommand {
		return true
	}
	number := s.in.Next()
	if s.arguments.Ask(s.cfg.Objects, bytes, func() { s.decided(number, true) }) {
		return true
	}
	s.in.Number()
	return false
}

// waitForRoom stops processing of the read until decided.
func (s *state) waitForRoom() {
	s.queues.Flush()
	s.in.Chunk = nil
	s.waiting = waiting{method: assembler.PublishMethod, room: true}
	s.in.Hold()
}

// decision is mail from the intake, whether a content gets room, or from the connection's objects: arguments get room.
type decision struct {
	number  uint64
	granted bool
}

// decide continues with a content that waited for room.
func (s *state) decide(d decision) {
	if !s.waiting.room || !s.in.Awaits(d.number) {
		return
	}
	s.endWait()
	if s.assembler.Busy() {
		s.assembler.Decide(d.granted)
	}
}
