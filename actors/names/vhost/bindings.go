package vhost

import (
	"cmp"

	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
)

// bindings adds and removes bindings at exchanges, and removes the bindings to a deleted destination. Durable bindings
// are stored concurrently.
type bindings struct{ *shared }

// ends are the ends of a binding: the source exchange, and the destination queue or exchange.
type ends struct {
	source *exchange
	to     *name
	target topology.Target
}

// park parks a command while an end is neither live nor deleted, and reports whether it did.
func (e ends) park(command any) bool { return e.source.park(command) || e.to.park(command) }

// bind makes the source exchange add a binding, and answers when it has.
func (bs *bindings) bind(m *mail.Bind) {
	b := *m
	b.Source, b.Binding.Destination, b.Binding.User = plain(b.Source), plain(b.Binding.Destination), userOf(b.By)
	err := bs.readable(b.Source, b.Topic)
	var e ends
	if err == nil {
		e, err = bs.ends(b.Source, &b.Binding)
	}
	if err == nil {
		if e.park(&b) {
			return
		}
		err = cmp.Or(mail.Locked(e.target.Queue, b.Connection, bs.rules.VHost), refusal.Binding(e.source.exchange, b.Binding, e.target))
	}
	if err == nil {
		full := bs.room(b.By, bindingMemory(b.Binding), "bind to exchange '%s' in vhost '%s'", b.Source, bs.vhost)
		if full != nil && !e.source.exchange.Routes().Has(b.Binding) {
			err = full
		}
	}
	switch {
	case err != nil:
		bs.out.done(b.Request, err)
	case bs.durable(e) && !(e.source.unsettled == 0 && e.source.exchange.Routes().Has(b.Binding)):
		bs.bindDurably(e, &b)
	default:
		counted := bs.underWay(&b.Binding)
		bs.add(e, &b, func(err error) {
			counted()
			bs.out.done(b.Request, err)
		})
	}
}

// add calls done when the exchange has added the binding, and counts it, or has refused it.
func (bs *bindings) add(e ends, b *mail.Bind, done func(error)) {
	e.source.addSource(e.to)
	r := bs.requests.ask(e.source, func(_ bool, err error) { done(err) })
	r.By = b.By
	bs.out.send(e.source.exchange.PID, &mail.AddBinding{
		Request: r, Binding: b.Binding, Target: e.target, Exchange: b.Source, VHost: bs.vhost,
	})
}

// unbind makes the source exchange remove a binding. It is not an error if an end does not exist.
func (bs *bindings) unbind(m *mail.Unbind) {
	b := *m
	b.Source, b.Binding.Destination = plain(b.Source), plain(b.Binding.Destination)
	err := cmp.Or(bs.rules.Ends(b.Source, &b.Binding), bs.readable(b.Source, b.Topic))
	e, missing := bs.ends(b.Source, &b.Binding)
	if err == nil && missing == nil {
		if e.park(&b) {
			return
		}
		err = mail.Locked(e.target.Queue, b.Connection, bs.rules.VHost)
	}
	switch {
	case err != nil || missing != nil:
		bs.out.done(b.Request, err)
	case !bs.durable(e):
		bs.remove(e.source, b.Request, &b)
	case e.source.unsettled == 0 && !e.source.exchange.Routes().Has(b.Binding):
		bs.out.done(b.Request, nil)
	default:
		bs.unbindDurably(e.source, &b)
	}
}

func (bs *bindings) remove(x *exchange, r mail.Request, b *mail.Unbind) {
	bs.out.send(x.exchange.PID, &mail.RemoveBinding{
		Request: r, Binding: b.Binding, Exchange: b.Source, VHost: bs.vhost,
	})
}

// ends finds the ends of a binding. A missing source is reported first.
func (bs *bindings) ends(source string, b *topology.Binding) (e ends, err error) {
	if err := bs.rules.Ends(source, b); err != nil {
		return e, err
	}
	if e.source = bs.exchanges.byName[source]; e.source == nil {
		return e, bs.rules.NoExchange(source)
	}
	if b.ToExchange {
		to := bs.exchanges.byName[b.Destination]
		if to == nil {
			return e, bs.rules.NoExchange(b.Destination)
		}
		e.to, e.target.Exchange = &to.name, to.exchange
		return e, nil
	}
	to := bs.queues.named(b.Destination)
	if to == nil || to.phase == ending || to.phase == down && to.queue.Ending != "" {
		return e, bs.rules.NoQueue(b.Destination)
	}
	e.to, e.target.Queue = &to.name, to.queue
	return e, nil
}

// readable checks the routing key of a binding against topic permissions.
func (bs *bindings) readable(source string, topic mail.Permission) error {
	if x := bs.exchanges.byName[source]; x != nil && x.exchange.Type == "topic" {
		return topic.Err()
	}
	return nil
}

// durable reports whether a binding is durable: if both ends are.
func (bs *bindings) durable(e ends) bool {
	kept := e.target.Queue != nil && e.target.Queue.Durable || e.target.Exchange != nil && e.target.Exchange.Durable
	return kept && e.source.exchange.Durable && bs.cfg.Meta != nil
}

// bindDurably stores a binding, then publishes it. In between, an end may be deleted, and the binding with it.
func (bs *bindings) bindDurably(e ends, b *mail.Bind) {
	x := e.source
	x.unsettled++
	counted := bs.underWay(&b.Binding)
	settle := func() {
		counted()
		x.settle()
	}
	change := definitions.Change{Put: []any{bindingStored(bs.vhost, b.Source, &b.Binding)}}
	bs.store(change, b, func(err error) {
		if err != nil {
			settle()
			bs.failed(b, err)
			return
		}
		now, err := bs.ends(b.Source, &b.Binding)
		switch {
		case err != nil:
		case now.source != x || x.phase == forgetting:
			err = bs.rules.NoExchange(b.Source)
		case now.to != e.to && b.Binding.ToExchange:
			err = bs.rules.NoExchange(b.Binding.Destination)
		case now.to != e.to:
			err = bs.rules.NoQueue(b.Binding.Destination)
		}
		if err != nil {
			settle()
			bs.out.done(b.Request, err)
			return
		}
		bs.add(now, b, func(err error) {
			if err != nil {
				bs.store(definitions.Change{Delete: change.Put}, nil, bs.forgotten)
			}
			settle()
			bs.out.done(b.Request, err)
		})
	})
}

// unbindDurably deletes a binding from the store, then unpublishes it.
func (bs *bindings) unbindDurably(x *exchange, b *mail.Unbind) {
	x.unsettled++
	change := definitions.Change{Delete: []any{bindingStored(bs.vhost, b.Source, &b.Binding)}}
	bs.store(change, b, func(err error) {
		switch {
		case err != nil:
			x.settle()
			bs.failed(b, err)
		case bs.exchanges.byName[b.Source] != x || x.phase == forgetting:
			x.settle()
			bs.out.done(b.Request, nil)
		default:
			r := bs.requests.ask(x, func(unused bool, err error) {
				x.settle()
				bs.exchanges.retireUnused(x, unused, func() { bs.out.done(b.Request, err) })
			})
			r.By = b.By
			bs.remove(x, r, b)
		}
	})
}

// removeTo removes the bindings to n, which is no longer published, from all exchanges, and calls done when this is
// complete and the exchanges that end as a result are deleted.
func (bs *bindings) removeTo(n *name, of string, toExchange bool, done func()) {
	g := newBarrier(done)
	for x := range n.sources {
		delete(x.feeds, n)
		g.begin()
		r := bs.requests.ask(x, func(unused bool, _ error) { bs.exchanges.retireUnused(x, unused, g.end) })
		bs.out.send(x.exchange.PID, &mail.ForgetDestination{Request: r, Name: of, ToExchange: toExchange})
	}
	n.sources = nil
	g.end()
}

// moveTo redirects the bindings to a queue to its current actor.
func (bs *bindings) moveTo(q *queue, done func()) {
	g := newBarrier(done)
	for x := range q.sources {
		g.begin()
		r := bs.requests.ask(x, func(bool, error) { g.end() })
		bs.out.send(x.exchange.PID, &mail.MoveDestination{Request: r, To: q.queue})
	}
	g.end()
}
