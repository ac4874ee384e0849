package session

import (
	"candlemark/actors/session/batches"
	work "candlemark/actors/session/transactions"
	"candlemark/protocol/amqp10"
)

// outcome tells what became of a message that the client has sent.
type outcome struct {
	link  *link
	id    uint32
	state amqp10.State
}

// settle has the client told of a message's outcome, if it wants to know.
func (s *state) settle(d *delivery, state amqp10.State) {
	if !d.settled {
		conclude(s, d.batch, outcome{d.link, d.id, state})
	}
}

// conclude has the client told of an outcome, once it is that of the whole batch.
func conclude(s *state, b *batches.Batch, o outcome) {
	switch {
	case b != nil && !b.Ends(&o.state):
	case b != nil && b.Asked != 0:
		s.answered(&result{id: b.Asked, err: batches.Refused(&o.state)})
	default:
		s.outcomes = append(s.outcomes, o)
	}
}

// appendOutcomes appends dispositions: neighbours with the same outcome are told as one.
func appendOutcomes(s *state, b []byte) []byte {
	for i := 0; i < len(s.outcomes); {
		first := &s.outcomes[i]
		n := 1
		for i+n < len(s.outcomes) && s.outcomes[i+n].id == first.id+uint32(n) && work.Same(&s.outcomes[i+n].state, &first.state) {
			n++
		}
		d := &amqp10.Disposition{Role: amqp10.RoleReceiver, First: first.id, Settled: true, State: first.state}
		if n > 1 {
			d.Last = amqp10.Some(first.id + uint32(n-1))
		}
		b = amqp10.AppendFrame(b, s.cfg.Channel, d)
		i += n
	}
	return b
}

// outcomesTold counts what was told, and gives the clients of these links more credit.
func outcomesTold(s *state) {
	for i := range s.outcomes {
		if l := s.outcomes[i].link; l.publisher != nil {
			l.publisher.Open--
			s.refill(l)
		}
		s.outcomes[i] = outcome{}
	}
	s.outcomes = s.outcomes[:0]
}
