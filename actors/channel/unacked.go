package channel

import (
	"candlemark/actors/mail"
	"candlemark/protocol"
)

// unacked is a delivery that waits for its acknowledgement; a delivery tag names it.
type unacked struct {
	peer   *peer
	number uint64 // the queue's number of the delivery
	got    bool   // by basic.get, which no limit counts
	late   bool   // its queue took it back; no limit counts it either
}

// tag gives a delivery its tag. c is nil for basic.get.
func (s *state) tag(p *peer, c *consumer, number uint64) uint64 {
	if number == 0 {
		return s.unacked.Skip()
	}
	if c != nil {
		s.common.unacked++
		s.disallow(p, 1)
	}
	return s.unacked.Append(unacked{peer: p, number: number, got: c == nil})
}

// ack settles one delivery, or all up to tag. A tag that does not stand for a
// delivery is a channel exception (DEC-15); 0 with multiple is all of them.
func (s *state) ack(tag uint64, multiple bool, how mail.Settlement, m protocol.Method) error {
	first, last := tag, tag
	if multiple {
		first = 1
	}
	if multiple && tag == 0 {
		last = s.unacked.Last()
	} else if _, ok := s.unacked.Get(tag); !ok {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "unknown delivery tag %d", tag).For(m)
	}
	if s.tx != nil {
		s.unacked.TakeRange(first, last, func(tag uint64, u unacked) { s.tx.addSettle(tag, u, how) })
		return nil
	}
	s.unacked.TakeRange(first, last, func(_ uint64, u unacked) { s.settle(u, how) })
	s.room()
	return nil
}

// room uses what came free under the common limit. Queues are told first what
// came back: that stands ahead of what they offered.
func (s *state) room() {
	if len(s.common.offers)+len(s.common.idle) > 0 {
		s.flush()
	}
	s.allow()
}

// settle adds a delivery to what its queue is told at the end of the turn.
func (s *state) settle(u unacked, how mail.Settlement) {
	if !u.got {
		s.common.unacked--
	}
	if u.late {
		s.late--
	}
	if how == mail.Ack {
		s.counts.Ack++
	}
	p := u.peer
	if p.gone {
		return // the message went with its queue; settling it is fine (LEASE-6)
	}
	if p.settle == nil {
		p.settle = &mail.Settle{Channel: s.self}
		s.settling = append(s.settling, p)
	}
	ranges := p.settle.Ranges
	if k := len(ranges); k > 0 && ranges[k-1].How == how && ranges[k-1].Last+1 == u.number {
		ranges[k-1].Last = u.number
		return
	}
	p.settle.Ranges = append(ranges, mail.SettleRange{First: u.number, Last: u.number, How: how})
}

func (s *state) flushSettled() {
	for i, p := range s.settling {
		s.send(p.pid, p.settle)
		p.settle = nil
		s.settling[i] = nil
	}
	s.settling = s.settling[:0]
}

// recover returns everything unacknowledged to its queues [AMQP basic.recover],
// also in a transaction.
func (s *state) recover(requeue bool) error {
	if !requeue {
		return protocol.ConnectionErrorf(protocol.NotImplemented, "requeue=false")
	}
	s.unacked.TakeRange(1, s.unacked.Last(), func(_ uint64, u unacked) { s.settle(u, mail.Requeue) })
	s.room()
	return nil
}
