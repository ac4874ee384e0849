package vhost

import (
	"cmp"

	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// queues creates and deletes queues.
type queues struct {
	*shared
	byName    map[string]*queue // including queues of delayed exchanges
	owners    owners
	arguments protocol.Table // of the last queue created
}

// named finds a queue that clients can name; queues of delayed exchanges are excluded.
func (qs *queues) named(name string) *queue {
	if q := qs.byName[name]; q != nil && q.holdsFor == nil {
		return q
	}
	return nil
}

// count returns the number of queues created by clients.
func (qs *queues) count() int {
	n := len(qs.byName)
	for _, x := range qs.exchanges.byName {
		if q := x.holder; q != nil && qs.byName[q.queue.Name] == q {
			n--
		}
	}
	return n
}

// declare forwards the command to the queue, which checks equivalence and answers; a new queue is created first.
func (qs *queues) declare(m *mail.DeclareQueue) {
	d := *m
	d.Name = plain(d.Name)
	d.Arguments = policies.WithQueueType(d.Arguments, d.Durable, d.Exclusive, d.AutoDelete, qs.cfg.VHost.DefaultQueueType())
	serverNamed := d.Generated || d.Name == "" && !d.Passive
	if d.Name == "" && serverNamed {
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
	case q.phase == ending:
		if err = qs.awaitEnd(q, &d); err == nil {
			return
		}
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

// freeName returns a server-generated name that is not in use.
func (qs *queues) freeName() string {
	for {
		if name := qs.serverName(); qs.byName[name] == nil {
			return name
		}
	}
}

// refuse returns why a queue that does not exist may not be created.
func (qs *queues) refuse(d *mail.DeclareQueue, serverNamed bool) error {
	if err := qs.rules.NewQueue(d, serverNamed); err != nil {
		return err
	}
	if qs.cfg.MaxQueues != nil {
		if limit, limited := qs.cfg.MaxQueues(); limited && int64(qs.count()) >= limit {
			return qs.rules.TooMany(d.Name, limit)
		}
	}
	if qs.cfg.AllQueues != nil {
		if limit, reached := qs.cfg.AllQueues(); reached {
			return refusal.TooManyQueues(d.Name, limit)
		}
	}
	return qs.room(d.By, queueMemory(d.Name, d.Arguments), "declare queue '%s' in vhost '%s'", d.Name, qs.vhost)
}

// make creates a queue and forwards the command; a durable queue is stored first.
func (qs *queues) make(d *mail.DeclareQueue) {
	if given, meant := policies.Misspelt(d.Arguments); given != "" {
		qs.cfg.Log.Warn().Str("queue", d.Name).Str("argument", given).Str("did_you_mean", meant).Msg("an unknown argument of a queue has no effect")
	}
	kind := policies.KindOf(d.Arguments)
	q := &queue{kind: kind, queue: &topology.Queue{
		Name: d.Name, Incarnation: qs.incarnate(), Type: typeName(kind), Arguments: qs.alike(d.Arguments),
		Durable: d.Durable && !d.Exclusive, AutoDelete: d.AutoDelete, Exclusive: d.Exclusive,
		Stats: qs.cfg.VHost.NewQueueStats(d.Name), Sent: new(metrics.Sent), User: cmp.Or(userOf(d.By), d.For),
	}}
	if d.Exclusive {
		q.queue.Owner = d.Connection
	}
	qs.settings(q)
	qs.ensureDLQ(q, func() {}) // the DLQ is stored, and so exists, before the queue
	if !q.queue.Durable {
		qs.start(q, nil, false)
		qs.publishQueueEvent("queue.created", d.By, q.queue)
		qs.forward(q, d)
		return
	}
	q.phase = coming
	qs.byName[d.Name] = q
	q.paid.begin(qs.holder(q.queue.User), queueMemory(d.Name, d.Arguments)) // now: others may be declared before it is stored
	qs.store(definitions.Change{Put: []any{queueStored(qs.vhost, q.queue)}}, d, func(err error) { qs.made(q, d, err) })
}

// made continues after the definition of a queue was stored or, if err is not nil, could not be stored.
func (qs *queues) made(q *queue, d *mail.DeclareQueue, err error) {
	delete(qs.byName, d.Name)
	q.phase = live
	if err != nil {
		qs.failed(d, err)
		qs.abandon(q)
		return
	}
	started := false
	defer func() { // a queue that was not created now must not appear after a restart
		if !started {
			qs.store(definitions.Change{Delete: []any{queueStored(qs.vhost, q.queue)}}, nil, qs.forgotten)
			qs.abandon(q)
		}
	}()
	qs.start(q, nil, false)
	started = true
	qs.publishQueueEvent("queue.created", d.By, q.queue)
	qs.forward(q, d)
	qs.comes(q)
}

// abandon continues commands that waited for a queue that was deleted or never created.
func (qs *queues) abandon(q *queue) {
	for _, gone := range q.gone {
		gone()
	}
	q.notifyWaiting()
	q.paid.pay(0)
	qs.unpark(&q.name)
}

// comes continues commands that waited for a queue that is now live.
func (qs *queues) comes(q *queue) {
	q.settle()
	if q.deleting {
		qs.end(q, &mail.DeleteQueue{Name: q.queue.Name, VHost: qs.vhost})
	}
	qs.unpark(&q.name)
	q.notifyWaiting()
}

// start spawns the actor and publishes the queue.
func (qs *queues) start(q *queue, messages []store.Recovered, recovering bool) {
	effective, settings := qs.settings(q)
	qs.startWith(q, effective, settings, messages, recovering)
}

// startWith is start with the queue's settings.
func (qs *queues) startWith(q *queue, effective policies.Effective, settings policies.QueueSettings, messages []store.Recovered, recovering bool) {
	id := q.renew()
	qs.matched(&q.name, q.queue.Name, effective)
	q.paid.begin(qs.holder(q.queue.User), queueMemory(q.queue.Name, q.queue.Arguments))
	qs.spawn(propsOf(qs.cfg.NewQueue, QueueSpec{
		Queue: q.queue, VHost: qs.cfg.VHost, Effective: effective, Settings: settings,
		Messages: messages, Recovering: recovering, Revived: q.life.number > 1, Newest: q.life.newest, Notes: q.paid.renew(),
	}), id, q, &q.queue.PID)
	qs.byName[q.queue.Name] = q
	qs.owners.add(q, &qs.out)
	qs.show(q)
	qs.copyLockTime(q)
}

// typeName returns the type's name in topology. Streams are refused.
func typeName(kind policies.Kind) string {
	if kind == policies.KindQuorumQueue {
		return "quorum"
	}
	return "classic"
}
