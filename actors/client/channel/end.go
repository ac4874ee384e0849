package channel

import (
	"errors"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// fail closes the channel or the connection, depending on the type of err. m is the method that caused the error, nil
// if err names it or no method caused the error. The channel's deliveries are returned at once.
func (s *state) fail(err error, m protocol.Method) {
	if s.in.Phase != input.Open {
		return
	}
	s.leaveQueues()
	var ce *protocol.ChannelError
	if errors.As(err, &ce) {
		if m != nil && ce.Class == 0 {
			ce = ce.For(m)
		}
		s.in.Phase = input.Closing
		s.cfg.Log.Warn().Uint16("code", ce.Code).Str("text", ce.Text).Str("method", protocol.NameOf(ce.Class, ce.Method)).Msg("channel closed by the broker")
		s.closeMethod = &protocol.ChannelClose{ReplyCode: ce.Code, ReplyText: ce.Text, Class: ce.Class, Method: ce.Method}
		return
	}
	var oe *protocol.ConnectionError
	if !errors.As(err, &oe) {
		s.cfg.Log.Error().Err(err).Msg("command failed")
		oe = protocol.ConnectionErrorf(protocol.InternalError, "%s", err.Error())
	}
	if m != nil && oe.Class == 0 {
		oe = oe.For(m)
	}
	s.in.Phase = input.Dead
	s.mail.Send(s.cfg.Connection, &mail.CloseConnection{Err: oe})
}

// sendClose informs the queues before it sends channel.close, so that the client's next operations find the returned
// deliveries in them.
func (s *state) sendClose() {
	if s.closeMethod != nil {
		s.output.Reply(s.closeMethod)
		s.closeMethod = nil
	}
}

// leave handles the end of the connection. As in RabbitMQ, input that was read before is still executed, so that a
// publish after a waiting command is not lost; but nothing waits for the client any longer.
func (s *state) leave() {
	s.in.Leaving = true
	s.output.Leave()
	if s.waiting.room && s.assembler.Busy() { // no more input will come
		s.endWait()
	}
}

// close ends the channel. The connection answers channel.close, so that the number is free before the client can use
// it again.
func (s *state) close(sendCloseOk bool) {
	if s.in.Phase == input.Ended {
		return
	}
	s.leaveQueues()
	s.in.Phase = input.Ended
	s.mail.Send(s.cfg.Connection, &mail.ChannelClosed{ID: s.cfg.ID, Channel: s.mail.Self(), SendCloseOk: sendCloseOk})
}

// leaveQueues reports to every queue that the channel has left. Queues without a record of the channel ignore it; an
// outstanding answer is ignored as well.
func (s *state) leaveQueues() {
	if s.in.Phase == input.Open {
		s.output.ConfirmAll(&s.confirms)
	}
	s.queues.Flush()
	s.endWait()
	s.queues.StopWaiting()
	s.replies.End()
	s.queues.Peers.Leave()
	for tag, c := range s.consumers {
		s.events.Gone(tag, c.Name)
		s.cfg.Objects.Hold(-c.Memory)
	}
	clear(s.consumers)
	s.queues.Unacked.Clear()
	s.output.Drop()
	s.dropBegun()
}

// dropBegun drops incomplete input.
func (s *state) dropBegun() {
	s.assembler.Reset()
	s.arguments.Return()
	if s.tx != nil {
		s.tx.Forget()
		s.tx = nil
	}
}

// Left implements shell.Core.
func (s *state) Left() *mail.Enqueue {
	s.replies.End()
	return s.replies.InHand()
}

// Release implements shell.Core.
func (s *state) Release() {
	s.queues.Release()
	s.output.Drop()
	s.dropBegun()
	s.unread.Close()
}
