package vhost

import (
	"strings"

	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
)

// declareQueue sends the command on to the queue, which checks equivalence and
// answers; a new queue is made first.
func (v *vhost) declareQueue(m *mail.DeclareQueue) {
	d := *m
	d.Name = plain(d.Name)
	d.Arguments = policies.WithQueueType(d.Arguments, d.Durable, d.Exclusive, d.AutoDelete, v.cfg.VHost.DefaultQueueType())
	serverNamed := d.Name == "" && !d.Passive
	if serverNamed {
		d.Name = v.freeName()
	}
	q := v.queues[d.Name]
	if q != nil && q.park(&d) {
		return
	}
	if q == nil {
		if err := v.refuseQueue(&d, serverNamed); err != nil {
			v.reply(d.Request, &mail.DeclareQueueReply{Reply: d.Done(err), Name: m.Name})
			return
		}
		q = v.makeQueue(&d)
	}
	v.forward(q, &d)
}

// freeName makes a server name that is not taken.
func (v *vhost) freeName() string {
	for {
		if name := serverName(); v.queues[name] == nil {
			return name
		}
	}
}

// refuseQueue tells why there is to be no such queue, which does not exist.
func (v *vhost) refuseQueue(d *mail.DeclareQueue, serverNamed bool) error {
	vhost := v.cfg.VHost.Name
	if d.Passive {
		return v.noQueue(d.Name)
	}
	if serverNamed {
		if err := policies.ValidateServerNamed(d.Arguments); err != nil {
			return err
		}
	} else if strings.HasPrefix(d.Name, reserved) {
		return reservedName("queue", d.Name)
	}
	if err := policies.ValidateQueueArguments(d.Name, vhost, d.Arguments); err != nil {
		return err
	}
	return refusal(policies.ValidateQueueProperties(d.Name, vhost, policies.QueueDeclaration{
		Durable: d.Durable, AutoDelete: d.AutoDelete, Exclusive: d.Exclusive, Arguments: d.Arguments,
	}))
}

func (v *vhost) makeQueue(d *mail.DeclareQueue) *queue {
	v.incarnation++
	kind := policies.KindOf(d.Arguments)
	q := &queue{kind: kind, queue: &topology.Queue{
		Name: d.Name, Incarnation: v.incarnation, Type: typeName(kind), Arguments: d.Arguments,
		Durable: d.Durable && !d.Exclusive, AutoDelete: d.AutoDelete, Exclusive: d.Exclusive,
	}}
	if d.Exclusive {
		q.queue.Owner = d.Connection
	}
	effective := v.match(&q.name, kind, d.Name)
	q.queue.PID = v.spawn(v.cfg.NewQueue(QueueSpec{
		Queue: q.queue, VHost: v.cfg.VHost, Effective: effective, Settings: policies.SettingsFor(d.Arguments, effective),
	}), "queue", d.Name, q)
	v.queues[d.Name] = q
	v.own(q)
	v.publish(v.directory.WithQueue(q.queue))
	return q
}

// typeName is the type as topology knows it. Streams are refused.
func typeName(kind policies.Kind) string {
	if kind == policies.KindQuorumQueue {
		return "quorum"
	}
	return "classic"
}

// spawn starts a child under its own name and the present incarnation.
func (v *vhost) spawn(props *actor.Props, kind, of string, child any) *actor.PID {
	pid, err := v.ctx.SpawnNamed(props, childName(kind, of, v.incarnation))
	if err != nil {
		panic(err)
	}
	v.children[pid.Id] = child
	return pid
}

// forward counts what the queue is sent only when it was sent.
func (v *vhost) forward(q *queue, command any) {
	v.ctx.Send(q.queue.PID, command)
	q.forwarded++
}

// deleteQueue sends the command on; what comes later for this name waits for the
// queue's decision.
func (v *vhost) deleteQueue(m *mail.DeleteQueue) {
	d := *m
	d.Name = plain(d.Name)
	q := v.queues[d.Name]
	switch {
	case q == nil: // DEC-6
		v.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(nil)})
	case q.park(&d):
	case lockedFor(q.queue, d.Connection):
		err := policies.ResourceLocked(d.Name, v.cfg.VHost.Name)
		v.reply(d.Request, &mail.DeleteQueueReply{Reply: d.Done(err)})
	default:
		v.end(q, &d)
	}
}

func (v *vhost) end(q *queue, d *mail.DeleteQueue) {
	v.forward(q, d)
	q.phase = ending
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
	if q.doomed {
		v.end(q, &mail.DeleteQueue{Name: m.Name, VHost: v.cfg.VHost.Name})
		return
	}
	q.phase = live
	v.unpark(&q.name)
}

// queueRetiring is a queue's farewell, unless somebody declared it meanwhile
// (DESIGN §5a.3).
func (v *vhost) queueRetiring(m *mail.QueueRetiring) {
	q := v.queues[m.Name]
	switch {
	case q == nil || q.queue.Incarnation != m.Incarnation:
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
	if q.phase != forgetting {
		v.cfg.Log.Error().Str("queue", q.queue.Name).Msg("a queue ended without farewell")
		delete(v.children, q.queue.PID.Id)
		v.forgetQueue(q)
	}
}

func (v *vhost) forgetQueue(q *queue) {
	q.phase = forgetting
	v.publish(v.directory.WithoutQueue(q.queue.Name))
	v.untie(&q.name, q.queue.Name, false, func() { v.queueForgotten(q) })
}

func (v *vhost) queueForgotten(q *queue) {
	delete(v.queues, q.queue.Name)
	v.disown(q)
	if pid := q.queue.PID; v.children[pid.Id] != nil { // it lives and waits
		delete(v.children, pid.Id)
		v.ctx.Send(pid, &mail.QueueForgotten{})
	}
	for _, gone := range q.gone {
		gone()
	}
	v.unpark(&q.name)
}
