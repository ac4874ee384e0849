package vhost

import (
	"slices"

	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// fetchWindow is the maximum number of queues being read back, which limits the memory for data not yet in a queue.
const fetchWindow = 64

// Stored holds the durable definitions of a virtual host.
type Stored struct {
	Exchanges []definitions.Exchange
	Queues    []definitions.Queue
	Bindings  []definitions.Binding
}

// emptyOn starts more queues of which the journal has nothing.
type emptyOn struct{}

// recovery restores stored objects, in this order: the policies, exchanges, queues with their messages, bindings; then
// the queues start to expire messages, so that overdue ones can be dead-lettered (TTL-26). Commands wait until this is
// done.
type recovery struct {
	*shared
	Stored
	begun, failed bool
	released      bool                // the queues may be opened
	next          int                 // index of the next queue to be read back
	empty         []definitions.Queue // of which the journal has nothing, and which have no actor yet
	reading       map[*queue]struct{} // queues without an actor yet
	waits         []any               // commands, in order
	gather        barrier             // ends when every queue has an actor
}

// wait parks a command.
func (r *recovery) wait(command any) {
	r.waits = append(r.waits, command)
	if r.failed {
		r.fail()
	}
}

// fail ends a recovery after a panic: all senders that wait for the virtual host get an error.
func (r *recovery) fail() {
	r.failed = true
	r.out.answer(mail.Failed, r.waits...)
	r.waits = nil
}

// begin starts the recovery when the policies have arrived; there may be nothing to recover.
func (r *recovery) begin() {
	if r == nil || r.begun {
		return
	}
	r.begun = true
	for i := range r.Exchanges {
		r.recoverExchange(&r.Exchanges[i])
	}
	r.recoverHolders()
	r.Exchanges = nil
	r.Queues = slices.DeleteFunc(r.Queues, r.isOrphan)
	r.gather = barrier{left: len(r.Queues) + 1, done: r.recoverBindings}
	r.reading = map[*queue]struct{}{}
	if r.cfg.Empty != nil {
		r.Queues = slices.DeleteFunc(r.Queues, func(d definitions.Queue) bool {
			empty := d.Type != topology.HolderType && r.cfg.Empty(store.QueueID(d.Incarnation))
			if empty {
				r.empty = append(r.empty, d)
			}
			return empty
		})
	}
	r.startEmpty()
	for first := min(len(r.Queues), fetchWindow); r.next < first; {
		r.recoverQueue()
	}
	r.gather.end()
}

func (r *recovery) recoverExchange(x *definitions.Exchange) {
	d := &mail.DeclareExchange{
		Name: x.Name, Type: x.Type, Durable: true, AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments,
	}
	if x.Name == "" || refusal.ExchangeType(d) != nil || r.exchanges.byName[x.Name] != nil {
		r.cfg.Log.Error().Str("exchange", x.Name).Str("type", x.Type).Msg("a stored exchange cannot be restored")
		return
	}
	r.exchanges.start(newExchange(d, r.exchanges.cfg.VHost, x.User))
}

// isOrphan reports whether a stored queue has a name that clients cannot create: it stays in the store and cannot be
// reached.
func (r *recovery) isOrphan(q definitions.Queue) bool {
	if q.Name != "" && !r.rules.IsSystem(q.Name) && (q.Type == topology.HolderType || topology.HeldFor(q.Name) == q.Name) {
		return false
	}
	r.cfg.Log.Error().Str("queue", q.Name).Uint64("incarnation", q.Incarnation).
		Msg("a stored queue was not restored because its name is reserved; its messages stay in the journal")
	return true
}

// startEmpty starts some queues of which the journal has nothing. A queue without a lease does nothing before it is used, so it is live at once (ADR 154).
func (r *recovery) startEmpty() {
	some := r.empty[:min(len(r.empty), fetchWindow)]
	if r.empty = r.empty[len(some):]; len(r.empty) > 0 {
		r.out.send(r.self, emptyOn{})
	}
	for i := range some {
		q := r.restored(&some[i])
		effective, settings := r.queues.settings(q)
		waits := settings.Expires > 0 || q.queue.Ending != ""
		if !waits {
			q.phase = live
		}
		r.queues.startWith(q, effective, settings, nil, waits)
		r.gather.end()
	}
}

// recoverQueue starts reading the next queue back.
func (r *recovery) recoverQueue() {
	d := &r.Queues[r.next]
	r.next++
	q := r.restored(d)
	if d.Type == topology.HolderType {
		holdFor(r.exchanges.byName[topology.HeldFor(d.Name)], q)
	}
	r.reading[q] = struct{}{}
	r.reviver.fetch(q, false)
}

// restored returns a stored queue, which has no actor yet.
func (r *recovery) restored(d *definitions.Queue) *queue {
	q := &queue{kind: policies.KindOf(d.Arguments), queue: &topology.Queue{
		Name: d.Name, Incarnation: d.Incarnation, Type: d.Type, Arguments: d.Arguments, Durable: true, AutoDelete: d.AutoDelete, Ending: d.Ending, User: d.User,
		Stats: r.cfg.VHost.NewQueueStats(d.Name), Sent: new(metrics.Sent),
	}}
	q.phase = coming
	r.queues.byName[d.Name] = q
	return q
}

// started: a queue has an actor, for the first time or again.
func (r *recovery) started(q *queue) {
	if _, first := r.reading[q]; !first {
		return
	}
	delete(r.reading, q)
	if r.next < len(r.Queues) {
		r.recoverQueue()
	}
	r.gather.end()
}

// recoverBindings continues when all queues have been restored.
func (r *recovery) recoverBindings() {
	list := r.Bindings
	r.Bindings, r.Queues = nil, nil
	g := newBarrier(r.wakeQueues)
	for i := range list {
		d := &list[i]
		b := &mail.Bind{Source: d.Source, Binding: topology.Binding{
			Destination: d.Destination, ToExchange: d.ToExchange, RoutingKey: d.RoutingKey, Arguments: d.Arguments, User: d.User,
		}}
		e, err := r.bindings.ends(b.Source, &b.Binding)
		if err != nil {
			r.cfg.Log.Error().Err(err).Str("source", d.Source).Str("destination", d.Destination).Msg("a stored binding was not restored")
			if r.rules.Ends(b.Source, &b.Binding) != nil { // clients cannot remove it
				r.store(definitions.Change{Delete: []any{*d}}, nil, r.forgotten)
			}
			continue
		}
		g.begin()
		r.bindings.add(e, b, func(error) { g.end() })
	}
	g.end()
}

// wakeQueues wakes the queues after creating missing dead-letter queues, to which overdue messages go.
func (r *recovery) wakeQueues() {
	r.queues.ensureAllDLQs(func() {
		r.released = true
		g := newBarrier(r.recovered)
		for _, q := range r.queues.byName {
			if q.phase == coming {
				g.begin()
				q.ready = append(q.ready, g.end)
				r.reviver.opens(q)()
			}
		}
		g.end()
	})
}

// recovered runs the commands that waited.
func (r *recovery) recovered() {
	waits := r.waits
	r.recovery = nil
	for _, m := range waits {
		r.run(m)
	}
}

// recoverHolders finds the exchanges of the stored holders. A holder without its exchange, or the reverse, is left by
// an exchange that ended unexpectedly.
func (r *recovery) recoverHolders() {
	found := map[*exchange]bool{}
	r.Queues = slices.DeleteFunc(r.Queues, func(d definitions.Queue) bool {
		if d.Type != topology.HolderType {
			return false
		}
		of := topology.HeldFor(d.Name)
		if x := r.exchanges.byName[of]; x != nil && x.exchange.HasHolder() {
			found[x] = true
			return false
		}
		if slices.ContainsFunc(r.Exchanges, func(x definitions.Exchange) bool { return x.Name == of }) {
			r.cfg.Log.Error().Str("queue", d.Name).Msg("the messages of a delayed exchange that cannot be restored stay in the journal")
			return true
		}
		r.cfg.Log.Error().Str("queue", d.Name).Msg("stored messages were dropped: their delayed exchange does not exist")
		r.store(definitions.Change{Delete: []any{d}}, nil, r.forgotten)
		r.retireMessages(store.QueueID(d.Incarnation))
		return true
	})
	for _, x := range r.exchanges.byName {
		if x.exchange.HasHolder() && !found[x] {
			r.queues.newHolder(x)
			x.holder.phase = coming
			r.store(definitions.Change{Put: []any{queueStored(r.vhost, x.holder.queue)}}, nil, r.notStored)
			r.queues.start(x.holder, nil, true)
		}
	}
}
