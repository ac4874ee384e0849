package session10

import (
	"candlemark/actors/client/input"
	"candlemark/protocol/amqp10"
)

// begin answers the client's begin.
func (s *state) begin() {
	startWork(s)
	s.reply(&amqp10.Begin{
		RemoteChannel: amqp10.Some(s.cfg.Channel), NextOutgoingID: s.windows.NextOutgoing,
		IncomingWindow: s.windows.Incoming, OutgoingWindow: 1<<31 - 1, HandleMax: s.cfg.HandleMax,
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
		l.opening.flow = new(*f)
	case l.closing:
	case l.consumer != nil:
		s.creditGiven(l, f)
	case l.answers != nil:
		answersWanted(s, l, f)
	case f.Echo:
		s.reply(l.flow(&s.windows))
	}
}

// tellWindow sends the client its window if that has changed.
func (s *state) tellWindow(f *amqp10.Flow) {
	if f != nil && s.in.Phase == input.Open {
		s.reply(f)
	}
}
