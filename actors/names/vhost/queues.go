package vhost

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
)

// forward forwards a command to the queue, which answers.
func (qs *queues) forward(q *queue, d *mail.DeclareQueue) {
	d.Via = qs.self
	qs.out.send(q.queue.PID, d)
	q.forwarded++
}

// delete forwards the command; later commands for this name wait for the queue's decision.
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
		qs.reviver.deleteDown(q, &d)
	default:
		if err := mail.Locked(q.queue, d.Connection, qs.rules.VHost); err != nil {
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
	d.Via, q.phase, q.by = qs.self, asked, d.By
	qs.out.send(q.queue.PID, d)
	q.forwarded++
}

// lives reports whether a queue has an actor.
func (qs *queues) lives(q *queue) bool { return qs.children.of(q.queue.PID) != nil }

// deleteRefused: the conditions of a DeleteQueue were not met.
func (qs *queues) deleteRefused(m *mail.QueueDeleteRefused) {
	q := qs.byName[m.Name]
	if q == nil || q.queue.Incarnation != m.Incarnation || q.phase != asked {
		return
	}
	if q.deleting {
		qs.end(q, &mail.DeleteQueue{Name: m.Name, VHost: qs.vhost})
		return
	}
	q.settle()
	qs.unpark(&q.name)
}

// retiring handles a queue that wants to end, and keeps the queue if it was declared in the meantime (PRO-3).
func (qs *queues) retiring(m *mail.QueueRetiring) {
	q := qs.byName[m.Name]
	switch {
	case q == nil || q.queue.Incarnation != m.Incarnation || !mail.Same(m.Queue, q.queue.PID):
		qs.out.send(m.Queue, &mail.QueueForgotten{})
	case q.phase == forgetting:
	case !m.Deleted && q.queue.Ending == "" && q.forwarded > m.Handled:
		qs.out.send(m.Queue, &mail.QueueKept{})
	case m.Ending != "":
		qs.beginEnd(q, m.Ending)
	default:
		q.lost = m.Lost
		qs.forget(q)
	}
}

// died handles a queue that ended without QueueRetiring.
func (qs *queues) died(q *queue) {
	qs.cfg.Log.Error().Str("queue", q.queue.Name).Msg("a queue ended unexpectedly")
	if q.phase == crashed {
		q.settle()
	}
	switch {
	case q.phase == forgetting: // deletion continues without the actor
	case q.queue.Durable && qs.cfg.Messages != nil && !q.deleting:
		qs.reviver.revive(q)
	case q.holdsFor != nil && q.phase == live: // its messages are lost, but the exchange continues
		qs.start(q, nil, false)
		qs.unpark(&q.name)
	default:
		qs.forget(q)
	}
}

// forget removes a queue, which waits for this or has died. A durable queue is deleted from the store first: after a
// crash it exists with all its messages, or not at all, and then its data in the journal are unused.
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

// keep continues a queue that could not be deleted.
func (qs *queues) keep(q *queue, before phase) {
	q.phase = before
	qs.out.send(q.queue.PID, &mail.QueueKept{})
	if before == live { // otherwise the queue refuses the command
		qs.matcher.configureQueue(q)
		qs.unpark(&q.name)
	}
}

func (qs *queues) unpublish(q *queue) {
	qs.publish(qs.directory.WithoutQueue(q.queue.Name))
	qs.bindings.removeTo(&q.name, q.queue.Name, false, func() { qs.remove(q) })
}

// remove removes a queue without bindings.
func (qs *queues) remove(q *queue) {
	delete(qs.byName, q.queue.Name)
	qs.owners.remove(q, &qs.out)
	messages := store.QueueID(0)
	if q.queue.Durable {
		messages = store.QueueID(q.queue.Incarnation)
	}
	if qs.lives(q) { // the queue waits for the answer
		qs.children.forgetChild(q.queue.PID, messages)
		qs.out.send(q.queue.PID, &mail.QueueForgotten{})
	} else {
		qs.retireMessages(messages)
	}
	if q.holdsFor != nil {
		qs.reportHeld(q)
	}
	qs.publishQueueEvent("queue.deleted", q.by, q.queue, lostMessages(q.lost)...)
	qs.abandon(q)
	qs.copyLockTime(q)
	qs.recreateDLQFor(q.queue.Name)
}

// deleteAnyway deletes a queue unconditionally and calls gone when it is forgotten.
func (qs *queues) deleteAnyway(q *queue, r mail.Request, gone func()) {
	q.gone, q.deleting = append(q.gone, gone), true
	d := &mail.DeleteQueue{Request: r, Name: q.queue.Name, VHost: qs.vhost}
	switch q.phase {
	case live, ending:
		qs.end(q, d)
	case down:
		qs.reviver.deleteDown(q, d)
	case asked, forgetting, coming, crashed: // the request is handled when these phases end
	}
}
