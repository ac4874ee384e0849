package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/metrics"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// queues makes queues, and has them go.
type queues struct {
	*shared
	byName    map[string]*queue // holders, too
	owners    owners
	arguments protocol.Table // of the last one that was made
}

// named finds a queue that clients may name: not the holder of a delayed
// exchange.
func (qs *queues) named(name string) *queue {
	if q := qs.byName[name]; q != nil && q.holdsFor == nil {
		return q
	}
	return nil
}

// count is how many queues clients have made.
func (qs *queues) count() int {
	n := len(qs.byName)
	for _, x := range qs.exchanges.byName {
		if q := x.holder; q != nil && qs.byName[q.queue.Name] == q {
			n--
		}
	}
	return n
}

// declare sends the command on to the queue, which checks equivalence and
// answers; a new queue is made first.
func (qs *queues) declare(m *mail.DeclareQueue) {
	d := *m
	d.Name = plain(d.Name)
	d.Arguments = policies.WithQueueType(d.Arguments, d.Durable, d.Exclusive, d.AutoDelete, qs.cfg.VHost.DefaultQueueType())
	serverNamed := d.Name == "" && !d.Passive
	if serverNamed {
		d.Name = qs.freeName()
	}
	q := qs.named(d.Name)
	if q != nil && q.park(&d) {
		return
	}
	var err error
	switch {
	case q == nil:
		err = qs.refuse(&d, serverNamed)
	case q.phase == down:
		err = mail.QueueDown(d.Name, qs.vhost)
	}
	switch {
	case err != nil:
		qs.out.reply(d.Request, &mail.DeclareQueueReply{Reply: d.Done(err), Name: m.Name})
	case q == nil:
		qs.make(&d)
	default:
		qs.forward(q, &d)
	}
}

// freeName makes a server name that is not taken.
func (qs *queues) freeName() string {
	for {
		if name := qs.serverName(); qs.byName[name] == nil {
			return name
		}
	}
}

// refuse tells why there is to be no such queue, which does not exist.
func (qs *queues) refuse(d *mail.DeclareQueue, serverNamed bool) error {
	if err := qs.rules.NewQueue(d, serverNamed); err != nil || qs.cfg.MaxQueues == nil {
		return err
	}
	if limit, limited := qs.cfg.MaxQueues(); limited && int64(qs.count()) >= limit {
		return qs.rules.TooMany(d.Name, limit)
	}
	return nil
}

// make makes a queue and sends the command on; a durable one is stored
// first.
func (qs *queues) make(d *mail.DeclareQueue) {
	kind := policies.KindOf(d.Arguments)
	q := &queue{kind: kind, queue: &topology.Queue{
		Name: d.Name, Incarnation: qs.incarnate(), Type: typeName(kind), Arguments: qs.alike(d.Arguments),
		Durable: d.Durable && !d.Exclusive, AutoDelete: d.AutoDelete, Exclusive: d.Exclusive,
		Stats: qs.cfg.VHost.NewQueueStats(d.Name), Sent: new(metrics.Sent),
	}}
	if d.Exclusive {
		q.queue.Owner = d.Connection
	}
	qs.settings(q)
	qs.ensureDLQ(q, func() {}) // stored, and with that there, before the queue is
	if !q.queue.Durable {
		qs.start(q, nil, false)
		qs.queueTold("queue.created", d.By, q.queue)
		qs.forward(q, d)
		return
	}
	q.phase = coming
	qs.byName[d.Name] = q
	qs.store(definitions.Change{Put: []any{queueStored(qs.vhost, q.queue)}}, d, func(err error) { qs.made(q, d, err) })
}

// made goes on when the definition of a queue is stored, or is not.
func (qs *queues) made(q *queue, d *mail.DeclareQueue, err error) {
	delete(qs.byName, d.Name)
	q.phase = live
	if err != nil {
		qs.failed(d, err)
		qs.abandon(q)
		return
	}
	started := false
	defer func() { // what did not come now is not to come with the next start
		if !started {
			qs.store(definitions.Change{Delete: []any{queueStored(qs.vhost, q.queue)}}, nil, qs.forgotten)
			qs.abandon(q)
		}
	}()
	qs.start(q, nil, false)
	started = true
	qs.queueTold("queue.created", d.By, q.queue)
	qs.forward(q, d)
	qs.comes(q)
}

// abandon goes on with what waited for a queue that is gone, or never was.
func (qs *queues) abandon(q *queue) {
	for _, gone := range q.gone {
		gone()
	}
	q.tellReady()
	qs.unpark(&q.name)
}

// comes goes on with what waited for a queue that is live now.
func (qs *queues) comes(q *queue) {
	q.phase = live
	if q.deleting {
		qs.end(q, &mail.DeleteQueue{Name: q.queue.Name, VHost: qs.vhost})
	}
	qs.unpark(&q.name)
	q.tellReady()
}

// start makes the actor and publishes it.
func (qs *queues) start(q *queue, messages []store.Recovered, asleep bool) {
	id := q.renew()
	effective, settings := qs.settings(q)
	qs.matched(&q.name, q.queue.Name, effective)
	qs.spawn(propsOf(qs.cfg.NewQueue, QueueSpec{
		Queue: q.queue, VHost: qs.cfg.VHost, Effective: effective, Settings: settings,
		Messages: messages, Asleep: asleep, Revived: q.life.number > 1, Newest: q.life.newest,
	}), id, q, &q.queue.PID)
	qs.byName[q.queue.Name] = q
	qs.owners.add(q, &qs.out)
	qs.show(q)
}

// typeName is the type as topology knows it. Streams are refused.
func typeName(kind policies.Kind) string {
	if kind == policies.KindQuorumQueue {
		return "quorum"
	}
	return "classic"
}
