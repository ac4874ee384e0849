package channel

import (
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// ack settles one delivery or, with multiple, all up to tag. A tag without a delivery is a channel exception
// (DEC-15).
func (s *state) ack(tag uint64, multiple bool, how mail.Settlement, m protocol.Method) error {
	first, last, ok := s.queues.Unacked.Range(tag, multiple)
	switch {
	case !ok:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "unknown delivery tag %d", tag).For(m)
	case s.tx != nil:
		s.queues.Unacked.Take(first, last, func(tag uint64, u unacked.Unacked) { s.tx.Settle(tag, u, how) })
	default:
		s.queues.Settle(first, last, how)
	}
	return nil
}

// recover requeues all unacked deliveries [AMQP basic.recover], also deliveries in a transaction.
func (s *state) recover(requeue bool) error {
	if !requeue {
		return protocol.ConnectionErrorf(protocol.NotImplemented, "requeue=false")
	}
	s.queues.Settle(1, s.queues.Unacked.Last(), mail.Release)
	return nil
}

// qos sets the prefetch of new consumers (for some clients also of existing ones), or the channel's common limit. As in
// RabbitMQ the former removes the latter.
func (s *state) qos(m *protocol.BasicQos) error {
	if m.PrefetchSize != 0 {
		return protocol.ConnectionErrorf(protocol.NotImplemented, "prefetch_size!=0 (%d)", m.PrefetchSize)
	}
	if m.Global {
		s.queues.Unacked.Limit.Set(int(m.PrefetchCount))
	} else {
		s.prefetch = int(m.PrefetchCount)
		s.queues.Unacked.Limit.Set(0)
		if quirks[s.cfg.ClientProduct].resizes {
			s.queues.Unacked.Limit.Resize(s.prefetch)
		}
	}
	s.output.Reply(&protocol.BasicQosOk{})
	return nil
}
