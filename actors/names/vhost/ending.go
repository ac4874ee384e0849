package vhost

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"
)

// beginEnd begins the end of a queue that has messages which must arrive elsewhere (LEASE-14): the state is stored, then
// the queue is unpublished and loses its bindings. It keeps its name until it retires again.
func (qs *queues) beginEnd(q *queue, why string) {
	before, next := q.phase, *q.queue
	next.Ending, q.phase = why, forgetting
	begin := func() {
		q.queue = &next
		qs.show(q)
		qs.bindings.removeTo(&q.name, next.Name, false, func() { qs.ends(q) })
	}
	if !next.Durable {
		begin()
		return
	}
	qs.store(definitions.Change{Put: []any{queueStored(qs.vhost, &next)}}, nil, func(err error) {
		switch {
		case err == nil || qs.ending != nil:
			begin()
		case qs.lives(q):
			qs.notStored(err)
			qs.keep(q, before)
		default:
			qs.notStored(err)
			qs.reviver.revive(q)
		}
	})
}

// ends tells a queue that it is unpublished. If its actor has died, a durable queue gets another one.
func (qs *queues) ends(q *queue) {
	q.phase = ending
	switch {
	case qs.lives(q):
		qs.out.send(q.queue.PID, &mail.QueueEnding{})
		if q.deleting {
			qs.end(q, &mail.DeleteQueue{Name: q.queue.Name, VHost: qs.vhost})
		}
		qs.unpark(&q.name)
	case q.queue.Durable && qs.cfg.Messages != nil && !q.deleting:
		qs.reviver.revive(q)
	default:
		qs.forget(q)
	}
}

// awaitEnd makes a declaration wait for the end of a queue of that name, or returns why it does not (LEASE-15).
func (qs *queues) awaitEnd(q *queue, d *mail.DeclareQueue) error {
	switch {
	case d.Passive:
		return qs.rules.NoQueue(d.Name)
	case q.heldUp:
		return qs.rules.Ending(d.Name)
	}
	q.parked = append(q.parked, d)
	return nil
}

// isHeldUp refuses the declarations that wait for the end of a queue.
func (qs *queues) isHeldUp(m *mail.QueueHeldUp) {
	q := qs.byName[m.Name]
	if q == nil || q.queue.Incarnation != m.Incarnation {
		return
	}
	q.heldUp = true
	if q.phase == ending {
		qs.unpark(&q.name)
	}
}

// settle ends a change of the phase: the queue is live or, if its end has begun, ending.
func (q *queue) settle() {
	q.phase = live
	if q.queue.Ending != "" {
		q.phase = ending
	}
}
