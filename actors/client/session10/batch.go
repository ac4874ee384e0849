package session10

import (
	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/client/session10/settlement"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// batchSteps is the limit of steps and queues for the routes of a batch, since it is published in one turn.
const batchSteps = 10 * topology.TurnSteps

// publishBatch publishes all messages of a batch or none: all are checked before the first is published.
func (s *publishing) publishBatch(whole *transfer, payload []byte) {
	messages, err := servicebus.Batch(payload)
	var all []transfer
	if err == nil {
		whole.batch = &settlement.Batch{}
		all, err = s.tryAll(whole, messages)
	}
	if err != nil {
		whole.batch = nil
		s.refuse(whole, err)
		return
	}
	copies := 0
	for i := range all {
		copies += all[i].found.Copies(&all[i].Message)
	}
	if copies > 0 && routing.MustAsk(s.cfg.Copies, s.cfg.Gate) {
		for i := range all {
			all[i].Message.Own()
		}
	}
	s.queues.WhenPermitted(copies, len(payload), func() {
		s.publishAll(whole.batch, all)
		s.queues.Flush()
	})
}

// publishNumbered publishes messages sent to an address to a queue or to the holder of a topic (DLY-15), all or none,
// and then calls done with their numbers in the queue.
func (s *publishing) publishNumbered(address servicebus.Address, q *topology.Queue, messages [][]byte, done func(numbers []uint64, err error)) {
	b := &settlement.Batch{Queue: q.PID, Numbers: make([]uint64, len(messages))}
	to := &link{publisher: &publisher{Link: incoming.Link{Target: incoming.ToQueue(address.Text, q)}}}
	all, err := s.tryAll(&transfer{link: to, batch: b}, messages)
	if err != nil {
		done(nil, err)
		return
	}
	b.Asked = s.queues.Request(func(_ any, err error) { done(b.Numbers, err) }).ID
	s.in.Patient()
	s.publishAll(b, all)
	s.queues.Flush()
}

// tryAll checks all messages of a batch; whole holds their common fields.
func (s *publishing) tryAll(whole *transfer, messages [][]byte) (all []transfer, err error) {
	all = make([]transfer, len(messages))
	whole.batch.Left = len(messages)
	maxSteps := s.queues.Routes.Steps() + batchSteps
	for i := 0; i < len(messages) && err == nil; i++ {
		all[i] = transfer{link: whole.link, id: whole.id, settled: whole.settled, tx: whole.tx, batch: whole.batch, at: int32(i)}
		err = s.tryRoute(&all[i], messages[i], maxSteps)
	}
	return all, err
}

// publishAll publishes the checked messages of a batch, so that each queue accepts all of its messages or none.
func (s *publishing) publishAll(b *settlement.Batch, all []transfer) {
	s.queues.Batches.Flush() // earlier messages are not part of the batch
	for i := range all {
		d := &all[i]
		d.Message.Own() // otherwise each message would keep the whole batch in memory
		s.routed(d, s.queues.Routes.Again(d.To, d.Message.RoutingKey, d.Keys, &d.found))
	}
	s.queues.Batches.FlushWhole(b.Counts())
}

// tryRoute checks a message of a batch, whose routes may take up to most steps.
func (s *publishing) tryRoute(d *transfer, message []byte, maxSteps int) error {
	if err := s.check(d, message); err != nil {
		return err
	}
	targets, err := d.Find(&d.link.publisher.Target, s.queues.Routes)
	if err != nil {
		return err
	}
	d.found = s.queues.Routes.Stored(targets)
	s.queues.Routes.Count(len(targets) + len(s.queues.Routes.Histories()))
	if s.queues.Routes.Over() || s.queues.Routes.Steps() > maxSteps {
		return amqp10.Errorf(amqp10.ResourceLimitExceeded, "the batch goes to too many queues: send smaller batches")
	}
	s.queues.Routes.AllowAnswer(&d.Message, targets)
	return d.CheckTimes(targets, s.queues.Routes)
}
