package session

import (
	"candlemark/actors/session/window"
	"candlemark/protocol/amqp10"
)

// handleMax is the highest handle of a session, which limits its links.
const handleMax = 255

// begin answers the client's begin.
func (s *state) begin() {
	s.reply(&amqp10.Begin{
		RemoteChannel: amqp10.Some(s.cfg.Channel), NextOutgoingID: s.windows.NextOutgoing,
		IncomingWindow: s.windows.Incoming, OutgoingWindow: 1<<31 - 1, HandleMax: handleMax,
	})
	s.write()
}

// flow handles the client's windows and the credit of a link.
func (s *state) flow(f *amqp10.Flow) {
	s.windows.Heard(f)
	if !f.Handle.Set {
		if f.Echo {
			s.reply(s.windows.Flow())
		}
		return
	}
	l := s.links[f.Handle.Value]
	switch {
	case l == nil:
		s.fail(amqp10.Errorf(amqp10.UnattachedHandle, "flow for handle %d, which is not attached", f.Handle.Value))
	case l.opening != nil:
		kept := *f
		l.opening.Flow = &kept
	case l.closing:
	case l.consumer != nil:
		s.creditGiven(l, f)
	case l.answers != nil:
		answersWanted(s, l, f)
	case f.Echo:
		s.reply(l.flow(&s.windows))
	}
}

// topUp renews the client's window or credit once half of it is used up.
func (s *state) topUp() {
	if s.phase != open {
		return
	}
	if s.windows.Incoming < window.Incoming/2 {
		s.windows.Incoming = window.Incoming
		s.reply(s.windows.Flow())
	}
}
