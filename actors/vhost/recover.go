package vhost

import (
	"slices"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// fetchWindow is how many queues are being read back at a time, so that what was
// read and is not yet in a queue stays little.
const fetchWindow = 64

// Stored holds the durable definitions of a virtual host.
type Stored struct {
	Exchanges []definitions.Exchange
	Queues    []definitions.Queue
	Bindings  []definitions.Binding
}

// recovery brings back what was kept, in this order: the policies, exchanges,
// queues with their messages, bindings; then time passes for the queues, so that
// what is overdue finds its way (TTL-26). Commands wait until that is done.
type recovery struct {
	Stored
	begun, failed bool
	released      bool                // the queues may open
	next          int                 // the queue to be read back next
	reading       map[*queue]struct{} // those that have no actor yet
	waits         []any               // commands, in order
	gather        barrier             // ends when every queue has an actor
}

// wait keeps a command for later.
func (v *vhost) wait(what any) bool {
	if !command(what) {
		return false
	}
	v.recovery.waits = append(v.recovery.waits, what)
	if v.recovery.failed {
		v.broken()
	}
	return true
}

// broken has a recovery in which something panicked fail as a whole: whoever
// waits for the virtual host is told.
func (v *vhost) broken() {
	if r := v.recovery; r != nil {
		r.failed = true
		mail.AnswerAll(v.ctx, r.waits, mail.Failed)
		r.waits = nil
	}
}

// bringBack begins when the policies are there.
func (v *vhost) bringBack() {
	r := v.recovery
	if r == nil || r.begun {
		return
	}
	r.begun = true
	for i := range r.Exchanges {
		v.recoverExchange(&r.Exchanges[i])
	}
	r.Exchanges = nil
	v.recoverHolders()
	r.Queues = slices.DeleteFunc(r.Queues, v.isOrphan)
	r.gather = barrier{left: len(r.Queues) + 1, done: v.recoverBindings}
	r.reading = map[*queue]struct{}{}
	for first := min(len(r.Queues), fetchWindow); r.next < first; {
		v.recoverQueue()
	}
	r.gather.end()
}

func (v *vhost) recoverExchange(x *definitions.Exchange) {
	d := &mail.DeclareExchange{
		Name: x.Name, Type: x.Type, Durable: true, AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments,
	}
	if x.Name == "" || checkType(d) != nil || v.exchanges[x.Name] != nil {
		v.cfg.Log.Error().Str("exchange", x.Name).Str("type", x.Type).Msg("a stored exchange cannot be brought back")
		return
	}
	v.startExchange(newExchange(d))
}

// isOrphan tells whether a stored queue has a name that no client can give to one:
// it is left as it is stored, and is out of reach.
func (v *vhost) isOrphan(q definitions.Queue) bool {
	if q.Name != "" && !v.isSystemExchange(q.Name) && (q.Type == topology.HolderType || topology.HeldFor(q.Name) == q.Name) {
		return false
	}
	v.cfg.Log.Error().Str("queue", q.Name).Uint64("incarnation", q.Incarnation).
		Msg("a stored queue has a name that is the broker's own; it is not brought back, what is in it stays in the journal")
	return true
}

// recoverQueue has the next queue read back.
func (v *vhost) recoverQueue() {
	r := v.recovery
	d := &r.Queues[r.next]
	r.next++
	q := &queue{kind: policies.KindOf(d.Arguments), queue: &topology.Queue{
		Name: d.Name, Incarnation: d.Incarnation, Type: d.Type, Arguments: d.Arguments, Durable: true, AutoDelete: d.AutoDelete,
	}}
	if d.Type == topology.HolderType {
		v.holdFor(v.exchanges[topology.HeldFor(d.Name)], q)
	}
	q.phase = coming
	v.queues[d.Name] = q
	r.reading[q] = struct{}{}
	v.fetch(q, false)
}

// started: a queue has an actor, for the first time or once more.
func (v *vhost) started(q *queue) {
	r := v.recovery
	if _, first := r.reading[q]; !first {
		return
	}
	delete(r.reading, q)
	if r.next < len(r.Queues) {
		v.recoverQueue()
	}
	r.gather.end()
}

// recoverBindings goes on when all queues are there.
func (v *vhost) recoverBindings() {
	list := v.recovery.Bindings
	v.recovery.Bindings, v.recovery.Queues = nil, nil
	g := newBarrier(v.wakeQueues)
	for i := range list {
		d := &list[i]
		b := &mail.Bind{Source: d.Source, Binding: topology.Binding{
			Destination: d.Destination, ToExchange: d.ToExchange, RoutingKey: d.RoutingKey, Arguments: d.Arguments,
		}}
		x, n, target, err := v.ends(b.Source, &b.Binding)
		if err != nil {
			v.cfg.Log.Error().Err(err).Str("source", d.Source).Str("destination", d.Destination).Msg("a stored binding is not brought back")
			if v.notBindable(b.Source, &b.Binding) != nil { // nobody could remove it
				v.store(definitions.Change{Delete: []any{*d}}, nil, v.forgotten)
			}
			continue
		}
		g.begin()
		v.addBinding(x, n, target, v.ask(x, func(bool, error) { g.end() }), b)
	}
	g.end()
}

// wakeQueues lets time pass for the queues once the dead-letter queues are there that
// were not stored: what is overdue goes into them.
func (v *vhost) wakeQueues() {
	v.ensureAllDLQs(func() {
		v.recovery.released = true
		g := newBarrier(v.recovered)
		for _, q := range v.queues {
			if q.phase == coming {
				g.begin()
				q.ready = append(q.ready, g.end)
				v.opens(q)()
			}
		}
		g.end()
	})
}

// recovered goes on with what waited.
func (v *vhost) recovered() {
	waits := v.recovery.waits
	v.recovery = nil
	for _, m := range waits {
		v.handle(m)
	}
}
