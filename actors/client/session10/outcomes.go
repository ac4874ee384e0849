package session10

import (
	"candlemark/actors/client/session10/settlement"
	"candlemark/protocol/amqp10"
)

// outcome is the outcome of a message that the client has sent.
type outcome struct {
	link  *link
	id    uint32
	state amqp10.State
}

// outcome sends an outcome.
func (o *output) outcome(x outcome) { o.outcomes = append(o.outcomes, x) }

// appendOutcomes appends dispositions; neighbours with the same outcome share one.
func (o *output) appendOutcomes(b []byte) []byte {
	for i := 0; i < len(o.outcomes); {
		first := &o.outcomes[i]
		n := 1
		for i+n < len(o.outcomes) && o.outcomes[i+n].id == first.id+uint32(n) && settlement.Same(&o.outcomes[i+n].state, &first.state) {
			n++
		}
		d := &amqp10.Disposition{Role: amqp10.RoleReceiver, First: first.id, Settled: true, State: first.state}
		if n > 1 {
			d.Last = amqp10.Some(first.id + uint32(n-1))
		}
		b = amqp10.AppendFrame(b, o.cfg.Channel, d)
		i += n
	}
	return b
}

// outcomesWritten counts outcomes that were written, and renews the credit of their links.
func (o *output) outcomesWritten() {
	for i := range o.outcomes {
		if l := o.outcomes[i].link; l.publisher != nil {
			l.publisher.Open--
			o.refill(l)
		}
		o.outcomes[i] = outcome{}
	}
	o.outcomes = o.outcomes[:0]
}
