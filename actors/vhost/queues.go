package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
)

// forward counts what the queue is sent only when it was sent.
func (v *vhost) forward(q *queue, command any) {
	switch m := command.(type) {
	case *mail.DeclareQueue:
		m.Via = v.ctx.Self()
	case *mail.DeleteQueue:
		m.Via = v.ctx.Self()
	}
	v.ctx.Send(q.queue.PID, command)
	q.forwarded++
}

// deleteQueue sends the command on; what comes later for this name waits for the
// queue's decision.
func (v *vhost) deleteQueue(m *mail.DeleteQueue) {
	d := *m
	d.Name = plain(d.Name)
	q := v.queueNamed(d.Name)
	switch {
	case q == nil: // DEC-6
		v.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(nil)})
	case q.park(&d):
	case q.phase == down:
		v.deleteDown(q, &d)
	case lockedFor(q.queue, d.Connection):
		err := policies.ResourceLocked(d.Name, v.cfg.VHost.Name)
		v.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(err)})
	default:
		v.end(q, &d)
	}
}

// awaitQueue answers when no change of the queue is under way.
func (v *vhost) awaitQueue(m *mail.AwaitQueue) {
	if q := v.queueNamed(m.Name); q == nil || !q.park(m) {
		v.done(m.Request, nil)
	}
}

func (v *vhost) end(q *queue, d *mail.DeleteQueue) {
	v.forward(q, d)
	q.phase = ending
}

// child is the actor of a queue as the vhost knows it: nil for one that has
// none yet or has died.
func (v *vhost) child(q *queue) any {
	if q.queue.PID == nil {
		return nil
	}
	return v.children[q.queue.PID.Id]
}

// lockedFor tells whether the queue is another connection's (DEC-5); nobody is
// refused who has none, the broker itself.
func lockedFor(q *topology.Queue, connection *actor.PID) bool {
	return q.Exclusive && connection != nil && !connection.Equal(q.Owner)
}

// queueDeleteRefused: the conditions of a DeleteQueue were not met.
func (v *vhost) queueDeleteRefused(m *mail.QueueDeleteRefused) {
	q := v.queues[m.Name]
	if q == nil || q.queue.Incarnation != m.Incarnation || q.phase != ending {
		return
	}
	if q.deleting {
		v.end(q, &mail.DeleteQueue{Name: m.Name, VHost: v.cfg.VHost.Name})
		return
	}
	q.phase = live
	v.unpark(&q.name)
}

// queueRetiring is a queue's farewell, unless somebody declared it meanwhile
// (PRO-3).
func (v *vhost) queueRetiring(m *mail.QueueRetiring) {
	q := v.queues[m.Name]
	switch {
	case q == nil || q.queue.Incarnation != m.Incarnation || !m.Queue.Equal(q.queue.PID):
		v.ctx.Send(m.Queue, &mail.QueueForgotten{})
	case q.phase == forgetting:
	case !m.Deleted && q.forwarded > m.Handled:
		v.ctx.Send(m.Queue, &mail.QueueKept{})
	default:
		v.forgetQueue(q)
	}
}

// queueDied: it ended without farewell.
func (v *vhost) queueDied(q *queue) {
	v.cfg.Log.Error().Str("queue", q.queue.Name).Msg("a queue ended without farewell")
	delete(v.children, q.queue.PID.Id)
	if q.phase == crashed {
		q.phase = live
	}
	switch {
	case q.phase == forgetting: // that goes on without it
	case q.queue.Durable && v.cfg.Messages != nil && !q.deleting:
		v.revive(q)
	case q.holdsFor != nil && q.phase == live: // what it held is lost, its exchange goes on
		v.startQueue(q, nil, false)
		v.unpark(&q.name)
	default:
		v.forgetQueue(q)
	}
}

// forgetQueue lets a queue go, which lives and waits for that, or has died. A
// durable one goes from the store first: after a crash it is there with all that
// is in it, or it is not, and what the journal has of it is nobody's.
func (v *vhost) forgetQueue(q *queue) {
	before := q.phase
	q.phase = forgetting
	if !q.queue.Durable {
		v.unpublishQueue(q)
		return
	}
	v.store(definitions.Change{Delete: []any{v.queueStored(q.queue)}}, nil, func(err error) {
		if v.forgotten(err); err != nil && v.ending == nil && v.child(q) != nil {
			v.keepQueue(q, before)
			return
		}
		v.unpublishQueue(q)
	})
}

// keepQueue has a queue live on that could not be deleted.
func (v *vhost) keepQueue(q *queue, before phase) {
	q.phase = before
	v.ctx.Send(q.queue.PID, &mail.QueueKept{})
	if before == live { // else it refuses the command
		v.configureQueue(q)
		v.unpark(&q.name)
	}
}

func (v *vhost) unpublishQueue(q *queue) {
	v.publish(v.directory.WithoutQueue(q.queue.Name))
	v.removeBindingsTo(&q.name, q.queue.Name, false, func() { v.queueForgotten(q) })
}

func (v *vhost) queueForgotten(q *queue) {
	delete(v.queues, q.queue.Name)
	v.removeOwner(q)
	if pid := q.queue.PID; v.child(q) != nil { // it lives and waits
		delete(v.children, pid.Id)
		if q.queue.Durable {
			v.leaving[pid.Id] = store.QueueID(q.queue.Incarnation)
		}
		v.ctx.Send(pid, &mail.QueueForgotten{})
	} else if q.queue.Durable {
		v.retireMessages(store.QueueID(q.queue.Incarnation))
	}
	for _, gone := range q.gone {
		gone()
	}
	q.tellReady()
	v.unpark(&q.name)
	v.ensureDLQAgain(q.queue.Name)
}

// retireMessages ends what the journal has of a queue.
func (v *vhost) retireMessages(of store.QueueID) {
	if v.cfg.Retire != nil {
		v.cfg.Retire(of)
	}
}
