package session10

import (
	"errors"

	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/settlement"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// fail ends the session with an error; a connection exception ends the connection. Deliveries are returned to queues
// before the client is informed.
func (s *state) fail(err error) {
	if s.in.Phase != input.Open {
		return
	}
	var whole *protocol.ConnectionError
	if errors.As(err, &whole) {
		s.failConnection(err)
		return
	}
	e := dialect.ErrorOf(err)
	if e.Condition == amqp10.InternalError {
		s.cfg.Log.Error().Err(err).Msg("session failed")
	}
	s.cfg.Log.Warn().Str("condition", string(e.Condition)).Str("text", e.Description).Msg("session ended by the broker")
	s.leaveQueues()
	s.in.Phase = input.Closing
	s.output.reply(&amqp10.End{Error: e})
}

// failConnection closes the connection because of an error.
func (s *state) failConnection(err error) {
	if s.in.Phase == input.Open {
		s.leaveQueues()
		s.output.write()
	}
	s.in.Phase = input.Dead
	s.Send(s.cfg.Connection, &mail.CloseConnection{Err: err})
}

// leave handles the end of the connection. As in 0-9-1, input that was read before is still processed, so that a
// publish after a waiting request is not lost; but nothing waits for the client any longer.
func (s *state) leave() {
	s.in.Leaving = true
	s.output.dropHeld()
}

// close ends the session, and answers the client's end.
func (s *state) close() {
	if s.in.Phase == input.Ended {
		return
	}
	if s.in.Phase == input.Open {
		s.leaveQueues()
		if !s.in.Leaving { // otherwise close is called later
			s.output.reply(&amqp10.End{})
		}
		s.in.Leaving = true // so that nothing waits for the client
		s.output.write()
	}
	s.in.Phase = input.Ended
	s.Send(s.cfg.Connection, &mail.ChannelClosed{ID: s.cfg.Channel, Channel: s.Self()})
}

// leaveQueues informs every queue that the session no longer holds any deliveries.
func (s *state) leaveQueues() {
	stay := func(l *link) bool { return l.consumer != nil && l.dialect.Left() == mail.Leave }
	settlement.TakeOf(&s.queues.Unacked, &s.output.owners, stay, func(u unacked.Unacked) { s.queues.Unacked.Settle(u, mail.Leave, nil) })
	s.queues.Flush()
	s.in.EndWait()
	s.queues.StopWaiting()
	s.work.Drop()
	s.queues.Unacked.Flush()
	s.queues.Peers.Leave()
	for _, l := range s.links {
		s.temporary.Drop(l.temporary)
		if l.consumer != nil {
			s.consumerEvents.Gone(l.consumer.tag, l.consumer.name)
		}
	}
	s.dropBegun()
	clear(s.links)
	s.settling.forget()
	s.queues.Unacked.Clear()
	s.output.owners.TakeRange(1, s.output.owners.Last(), func(uint64, *link) {})
	s.output.dropHeld()
}

// dropBegun drops incomplete input, and answers without credit.
func (s *state) dropBegun() {
	s.answering.arguments.Return()
	for _, l := range s.links {
		switch {
		case l.publisher != nil:
			l.publisher.Forget(s.cfg.Arrivals)
		case l.answers != nil:
			l.answers.End(s.cfg.VHost)
			for _, waiting := range l.answers.Waiting {
				s.output.dropAnswer(waiting)
			}
			l.answers.Waiting = nil
		}
	}
}

// Left implements shell.Core.
func (s *state) Left() *mail.Enqueue { return s.answering.arriving }

// Release implements shell.Core.
func (s *state) Release() {
	s.queues.Release()
	s.dropBegun()
	s.output.dropHeld()
	s.output.unread.Close()
}
