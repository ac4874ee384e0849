package session

import (
	"candlemark/actors/channel/routing"
	"candlemark/internal/dialect/servicebus"
	"candlemark/internal/topology"
	"candlemark/protocol/amqp10"
)

// batchSteps is how many steps and queues the routes of a batch take at most, since it is published in one turn.
const batchSteps = 10 * topology.TurnSteps

// batch is a delivery of several messages, which has one outcome.
type batch struct {
	left     int  // messages without an outcome
	rejected bool // one was
}

// ends counts an outcome; true: it was the last, and o is that of the batch.
func (b *batch) ends(o *outcome) bool {
	b.rejected = b.rejected || o.state.Kind == amqp10.Rejected
	if b.left--; b.left > 0 {
		return false
	}
	if b.rejected {
		o.state = amqp10.State{Kind: amqp10.Rejected, Error: o.state.Error}
	}
	return true
}

// publishBatch publishes the messages of a batch, or none of them: all are checked before the first is published.
func publishBatch(s *state, whole *delivery, payload []byte) {
	messages, err := servicebus.Batch(payload)
	all := make([]delivery, len(messages))
	shared := &batch{left: len(messages)}
	most := s.routes.Steps() + batchSteps
	for i := 0; i < len(messages) && err == nil; i++ {
		all[i] = delivery{link: whole.link, id: whole.id, settled: whole.settled, batch: shared}
		err = tryRoute(s, &all[i], messages[i], most)
	}
	if err != nil {
		s.refuse(whole, err)
		return
	}
	for i := range all {
		d := &all[i]
		d.message.Own()                                                          // else each keeps the whole batch
		targets, _ := s.routes.Find(d.to, &d.message, d.keys, d.content.Headers) // which has been tried
		s.routed(d, targets)
	}
}

// tryRoute makes all checks of a message of a batch, whose routes may take as many steps of the turn as most.
func tryRoute(s *state, d *delivery, message []byte, most int) error {
	if err := s.check(d, message); err != nil {
		return err
	}
	targets, err := s.routes.Find(d.to, &d.message, d.keys, d.content.Headers)
	if err != nil {
		return err
	}
	s.routes.Count(len(targets) + len(s.routes.Histories()))
	switch {
	case s.routes.Over() || s.routes.Steps() > most:
		return amqp10.Errorf(amqp10.ResourceLimitExceeded, "a batch to more queues than fit in a turn")
	case d.content.Headers != nil:
		return routing.CheckMoments(targets, d.content.Headers, s.cfg.Clock)
	}
	return nil
}
