package vhost

import (
	"strconv"
	"strings"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"

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
	q := v.queueNamed(d.Name)
	if q != nil && q.park(&d) {
		return
	}
	var err error
	switch {
	case q == nil:
		err = v.refuseQueue(&d, serverNamed)
	case q.phase == down:
		err = mail.QueueDown(d.Name, v.cfg.VHost.Name)
	}
	switch {
	case err != nil:
		v.reply(d.Request, &mail.DeclareQueueReply{Reply: d.Done(err), Name: m.Name})
	case q == nil:
		v.makeQueue(&d)
	default:
		v.forward(q, &d)
	}
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
	if exchanges, deadLetterQueue := policies.QueueLeadsTo(d.Arguments); len(exchanges) > 0 || deadLetterQueue {
		if err := d.Leave.Err(); err != nil {
			return err
		}
	}
	if serverNamed {
		if err := policies.ValidateServerNamed(d.Arguments); err != nil {
			return err
		}
	} else if strings.HasPrefix(d.Name, reserved) {
		return reservedName("queue", d.Name)
	} else if v.isSystemExchange(d.Name) {
		return v.systemName("queue", d.Name)
	}
	if err := policies.ValidateQueueArguments(d.Name, vhost, d.Arguments); err != nil {
		return err
	}
	if err := policies.ValidateQueueProperties(d.Name, vhost, policies.QueueDeclaration{
		Durable: d.Durable, AutoDelete: d.AutoDelete, Exclusive: d.Exclusive, Arguments: d.Arguments,
	}); err != nil {
		return err
	}
	return v.refuseMore(d.Name)
}

// refuseMore tells whether there are as many queues as there may be.
func (v *vhost) refuseMore(name string) error {
	if v.cfg.MaxQueues == nil {
		return nil
	}
	limit, limited := v.cfg.MaxQueues()
	if !limited || int64(v.queueCount()) < limit {
		return nil
	}
	return protocol.ChannelErrorf(protocol.PreconditionFailed,
		"cannot declare queue '%s': queue limit in vhost '%s' (%d) is reached", name, v.cfg.VHost.Name, limit)
}

// makeQueue makes a queue and sends the command on; a durable one is stored
// first.
func (v *vhost) makeQueue(d *mail.DeclareQueue) {
	kind := policies.KindOf(d.Arguments)
	q := &queue{kind: kind, queue: &topology.Queue{
		Name: d.Name, Incarnation: v.incarnate(), Type: typeName(kind), Arguments: d.Arguments,
		Durable: d.Durable && !d.Exclusive, AutoDelete: d.AutoDelete, Exclusive: d.Exclusive,
	}}
	if d.Exclusive {
		q.queue.Owner = d.Connection
	}
	v.settings(q)
	v.ensureDLQ(q, func() {}) // stored, and with that there, before the queue is
	if !q.queue.Durable {
		v.startQueue(q, nil, false)
		v.forward(q, d)
		return
	}
	q.phase = coming
	v.queues[d.Name] = q
	v.store(definitions.Change{Put: []any{v.queueStored(q.queue)}}, d, func(err error) { v.queueMade(q, d, err) })
}

// queueMade goes on when the definition of a queue is stored, or is not.
func (v *vhost) queueMade(q *queue, d *mail.DeclareQueue, err error) {
	delete(v.queues, d.Name)
	q.phase = live
	if err != nil {
		v.failed(d, err)
		v.abandon(q)
		return
	}
	started := false
	defer func() { // what did not come now is not to come with the next start
		if !started {
			v.store(definitions.Change{Delete: []any{v.queueStored(q.queue)}}, nil, v.forgotten)
			v.abandon(q)
		}
	}()
	v.startQueue(q, nil, false)
	started = true
	v.forward(q, d)
	v.comes(q)
}

// abandon lets a queue go that never was.
func (v *vhost) abandon(q *queue) {
	for _, gone := range q.gone {
		gone()
	}
	q.tellReady()
	v.unpark(&q.name)
}

// comes goes on with what waited for a queue that is live now.
func (v *vhost) comes(q *queue) {
	q.phase = live
	if q.deleting {
		v.end(q, &mail.DeleteQueue{Name: q.queue.Name, VHost: v.cfg.VHost.Name})
	}
	v.unpark(&q.name)
	q.tellReady()
}

// startQueue makes the actor and publishes it.
func (v *vhost) startQueue(q *queue, messages []store.Recovered, asleep bool) {
	of, id := q.queue.Name, childName("queue", q.queue.Name, q.queue.Incarnation)
	if q.life.number++; q.life.number > 1 {
		again := *q.queue
		q.queue = &again
		id += "." + strconv.Itoa(q.life.number)
	}
	effective, settings := v.settings(q)
	q.queue.PID = v.spawn(v.cfg.NewQueue(QueueSpec{
		Queue: q.queue, VHost: v.cfg.VHost, Effective: effective, Settings: settings,
		Messages: messages, Asleep: asleep, Revived: q.life.number > 1,
		Newest: q.life.newest,
	}), id, q)
	v.queues[of] = q
	v.addOwner(q)
	v.show(q)
}

// typeName is the type as topology knows it. Streams are refused.
func typeName(kind policies.Kind) string {
	if kind == policies.KindQuorumQueue {
		return "quorum"
	}
	return "classic"
}

// spawn starts a child.
func (v *vhost) spawn(props *actor.Props, name string, child any) *actor.PID {
	pid, err := v.ctx.SpawnNamed(props, name)
	if err != nil {
		panic(err)
	}
	v.children[pid.Id] = child
	return pid
}
