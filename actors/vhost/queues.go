package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/store"
)

// forward sends a command on to the queue, which answers.
func (qs *queues) forward(q *queue, d *mail.DeclareQueue) {
	d.Via = qs.self
	qs.out.send(q.queue.PID, d)
	q.forwarded++
}

// delete sends the command on; what comes later for this name waits for the
// queue's decision.
func (qs *queues) delete(m *mail.DeleteQueue) {
	d := *m
	d.Name = plain(d.Name)
	q := qs.named(d.Name)
	switch {
	case q == nil: // DEC-6
		qs.out.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(nil)})
	case q.park(&d):
	case q.phase == down:
		q.by = d.By
		qs.deleteDown(q, &d)
	default:
		if err := qs.rules.Locked(q.queue, d.Connection); err != nil {
			qs.out.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(err)})
			return
		}
		qs.end(q, &d)
	}
}

// await answers when no change of the queue is under way.
func (qs *queues) await(m *mail.AwaitQueue) {
	if q := qs.named(m.Name); q == nil || !q.park(m) {
		qs.out.done(m.Request, nil)
	}
}

func (qs *queues) end(q *queue, d *mail.DeleteQueue) {
	d.Via, q.phase, q.by = qs.self, ending, d.By
	qs.out.send(q.queue.PID, d)
	q.forwarded++
}

// lives tells whether a queue has an actor.
func (qs *queues) lives(q *queue) bool { return qs.children.of(q.queue.PID) != nil }

// deleteRefused: the conditions of a DeleteQueue were not met.
func (qs *queues) deleteRefused(m *mail.QueueDeleteRefused) {
	q := qs.byName[m.Name]
	if q == nil || q.queue.Incarnation != m.Incarnation || q.phase != ending {
		return
	}
	if q.deleting {
		qs.end(q, &mail.DeleteQueue{Name: m.Name, VHost: qs.vhost})
		return
	}
	q.phase = live
	qs.unpark(&q.name)
}

// retiring is a queue's farewell, unless somebody declared it meanwhile
// (PRO-3).
func (qs *queues) retiring(m *mail.QueueRetiring) {
	q := qs.byName[m.Name]
	switch {
	case q == nil || q.queue.Incarnation != m.Incarnation || !m.Queue.Equal(q.queue.PID):
		qs.out.send(m.Queue, &mail.QueueForgotten{})
	case q.phase == forgetting:
	case !m.Deleted && q.forwarded > m.Handled:
		qs.out.send(m.Queue, &mail.QueueKept{})
	default:
		qs.forget(q)
	}
}

// died: it ended without farewell.
func (qs *queues) died(q *queue) {
	qs.cfg.Log.Error().Str("queue", q.queue.Name).Msg("a queue ended without farewell")
	if q.phase == crashed {
		q.phase = live
	}
	switch {
	case q.phase == forgetting: // that goes on without it
	case q.queue.Durable && qs.cfg.Messages != nil && !q.deleting:
		qs.revive(q)
	case q.holdsFor != nil && q.phase == live: // what it held is lost, its exchange goes on
		qs.start(q, nil, false)
		qs.unpark(&q.name)
	default:
		qs.forget(q)
	}
}

// forget lets a queue go, which lives and waits for that, or has died. A
// durable one goes from the store first: after a crash it is there with all that
// is in it, or it is not, and what the journal has of it is nobody's.
func (qs *queues) forget(q *queue) {
	before := q.phase
	q.phase = forgetting
	if !q.queue.Durable {
		qs.unpublish(q)
		return
	}
	qs.store(definitions.Change{Delete: []any{queueStored(qs.vhost, q.queue)}}, nil, func(err error) {
		if qs.forgotten(err); err != nil && qs.ending == nil && qs.lives(q) {
			qs.keep(q, before)
			return
		}
		qs.unpublish(q)
	})
}

// keep has a queue live on that could not be deleted.
func (qs *queues) keep(q *queue, before phase) {
	q.phase = before
	qs.out.send(q.queue.PID, &mail.QueueKept{})
	if before == live { // else it refuses the command
		qs.matcher.configureQueue(q)
		qs.unpark(&q.name)
	}
}

func (qs *queues) unpublish(q *queue) {
	qs.publish(qs.directory.WithoutQueue(q.queue.Name))
	qs.bindings.removeTo(&q.name, q.queue.Name, false, func() { qs.remove(q) })
}

// remove is the end of a queue that no exchange knows any more.
func (qs *queues) remove(q *queue) {
	delete(qs.byName, q.queue.Name)
	qs.owners.remove(q, &qs.out)
	messages := store.QueueID(0)
	if q.queue.Durable {
		messages = store.QueueID(q.queue.Incarnation)
	}
	if qs.lives(q) { // and waits
		qs.children.letGo(q.queue.PID, messages)
		qs.out.send(q.queue.PID, &mail.QueueForgotten{})
	} else {
		qs.retireMessages(messages)
	}
	qs.queueTold("queue.deleted", q.by, q.queue)
	qs.abandon(q)
	qs.ensureDLQAgain(q.queue.Name)
}

// deleteAnyway ends a queue that nothing keeps and calls gone when it is forgotten.
func (qs *queues) deleteAnyway(q *queue, r mail.Request, gone func()) {
	q.gone, q.deleting = append(q.gone, gone), true
	d := &mail.DeleteQueue{Request: r, Name: q.queue.Name, VHost: qs.vhost}
	switch q.phase {
	case live:
		qs.end(q, d)
	case down:
		qs.deleteDown(q, d)
	case ending, forgetting, coming, crashed: // that is known, or seen when it comes
	}
}
