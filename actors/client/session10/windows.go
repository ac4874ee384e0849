package session10

import "candlemark/protocol/amqp10"

// begin answers the client's begin.
func (s *state) begin() {
	s.startWork()
	s.output.reply(&amqp10.Begin{
		RemoteChannel: amqp10.Some(s.cfg.Channel), NextOutgoingID: s.output.windows.NextOutgoing,
		IncomingWindow: s.output.windows.Incoming, OutgoingWindow: 1<<31 - 1, HandleMax: s.cfg.HandleMax,
	})
	s.output.write()
}

// flow handles the client's windows and the credit of a link.
func (s *state) flow(f *amqp10.Flow) {
	s.output.windows.Heard(f)
	if !f.Handle.Set {
		if f.Echo {
			s.output.reply(s.output.windows.Flow())
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
		s.receiving.creditGiven(l, f)
	case l.answers != nil:
		s.answering.answersWanted(l, f)
	case f.Echo:
		s.output.replyFlow(l)
	}
}
