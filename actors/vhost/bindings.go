package vhost

import (
	"cmp"

	"candlemark/actors/mail"
	"candlemark/actors/vhost/refusal"
	"candlemark/internal/definitions"
	"candlemark/internal/topology"
)

// bindings adds bindings to exchanges and removes them, and has those that lead to what
// goes forgotten. Durable ones are stored side by side.
type bindings struct{ *shared }

// bind finds both ends and has the source exchange add the binding; it answers.
func (bs *bindings) bind(m *mail.Bind) {
	b := *m
	b.Source, b.Binding.Destination = plain(b.Source), plain(b.Binding.Destination)
	if err := bs.readable(b.Source, b.Topic); err != nil {
		bs.out.done(b.Request, err)
		return
	}
	x, n, target, err := bs.ends(b.Source, &b.Binding)
	if err == nil && (x.park(&b) || n.park(&b)) {
		return
	}
	if err == nil {
		err = bs.rules.Locked(target.Queue, b.Connection)
	}
	if err == nil {
		err = refusal.Arguments(x.exchange, b.Binding)
	}
	if err != nil {
		bs.out.done(b.Request, err)
		return
	}
	if bs.durable(x, target) && !(x.unsettled == 0 && x.exchange.Routes().Has(b.Binding)) {
		bs.bindDurably(x, n, &b)
		return
	}
	bs.add(x, n, target, b.Request, &b)
}

func (bs *bindings) add(x *exchange, n *name, target topology.Target, r mail.Request, b *mail.Bind) {
	x.addSource(n)
	bs.out.send(x.exchange.PID, &mail.AddBinding{
		Request: r, Binding: b.Binding, Target: target, Exchange: b.Source, VHost: bs.vhost,
	})
}

// unbind has the source exchange remove the binding. What does not exist is not
// bound, which is what was asked for.
func (bs *bindings) unbind(m *mail.Unbind) {
	b := *m
	b.Source, b.Binding.Destination = plain(b.Source), plain(b.Binding.Destination)
	if err := cmp.Or(bs.rules.Ends(b.Source, &b.Binding), bs.readable(b.Source, b.Topic)); err != nil {
		bs.out.done(b.Request, err)
		return
	}
	x, n, target, err := bs.ends(b.Source, &b.Binding)
	if err != nil {
		bs.out.done(b.Request, nil)
		return
	}
	if x.park(&b) || n.park(&b) {
		return
	}
	if err := bs.rules.Locked(target.Queue, b.Connection); err != nil {
		bs.out.done(b.Request, err)
		return
	}
	if !bs.durable(x, target) {
		bs.remove(x, b.Request, &b)
		return
	}
	if x.unsettled == 0 && !x.exchange.Routes().Has(b.Binding) {
		bs.out.done(b.Request, nil)
		return
	}
	bs.unbindDurably(x, &b)
}

func (bs *bindings) remove(x *exchange, r mail.Request, b *mail.Unbind) {
	bs.out.send(x.exchange.PID, &mail.RemoveBinding{
		Request: r, Binding: b.Binding, Exchange: b.Source, VHost: bs.vhost,
	})
}

// ends finds what a binding connects. The source is missed first.
func (bs *bindings) ends(source string, b *topology.Binding) (*exchange, *name, topology.Target, error) {
	var target topology.Target
	if err := bs.rules.Ends(source, b); err != nil {
		return nil, nil, target, err
	}
	x := bs.exchanges.byName[source]
	if x == nil {
		return nil, nil, target, bs.rules.NoExchange(source)
	}
	if b.ToExchange {
		to := bs.exchanges.byName[b.Destination]
		if to == nil {
			return nil, nil, target, bs.rules.NoExchange(b.Destination)
		}
		target.Exchange = to.exchange
		return x, &to.name, target, nil
	}
	to := bs.queues.named(b.Destination)
	if to == nil {
		return nil, nil, target, bs.rules.NoQueue(b.Destination)
	}
	target.Queue = to.queue
	return x, &to.name, target, nil
}

// readable checks the routing key of a binding against topic permissions.
func (bs *bindings) readable(source string, topic mail.Leave) error {
	if x := bs.exchanges.byName[source]; x != nil && x.exchange.Type == "topic" {
		return topic.Err()
	}
	return nil
}

// durable tells whether a binding is kept: if both ends are.
func (bs *bindings) durable(x *exchange, to topology.Target) bool {
	kept := to.Queue != nil && to.Queue.Durable || to.Exchange != nil && to.Exchange.Durable
	return kept && x.exchange.Durable && bs.cfg.Meta != nil
}

// bindDurably stores a binding, then has it published. Meanwhile an end may have
// gone, and with it the binding.
func (bs *bindings) bindDurably(x *exchange, n *name, b *mail.Bind) {
	x.unsettled++
	change := definitions.Change{Put: []any{bindingStored(bs.vhost, b.Source, &b.Binding)}}
	bs.store(change, b, func(err error) {
		if err != nil {
			x.settle()
			bs.failed(b, err)
			return
		}
		source, to, target, err := bs.ends(b.Source, &b.Binding)
		switch {
		case err != nil:
		case source != x || x.phase == forgetting:
			err = bs.rules.NoExchange(b.Source)
		case to != n && b.Binding.ToExchange:
			err = bs.rules.NoExchange(b.Binding.Destination)
		case to != n:
			err = bs.rules.NoQueue(b.Binding.Destination)
		}
		if err != nil {
			x.settle()
			bs.out.done(b.Request, err)
			return
		}
		bs.add(x, n, target, bs.requests.ask(x, func(_ bool, err error) {
			if err != nil {
				bs.store(definitions.Change{Delete: change.Put}, nil, bs.forgotten)
			}
			x.settle()
			bs.out.done(b.Request, err)
		}), b)
	})
}

// unbindDurably deletes a binding from the store, then has it unpublished.
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
			bs.remove(x, bs.requests.ask(x, func(unused bool, err error) {
				x.settle()
				bs.exchanges.retireUnused(x, unused, func() { bs.out.done(b.Request, err) })
			}), b)
		}
	})
}

// removeTo has every exchange forget its bindings to n, which is no longer
// published, and calls done when they have, and those of them that end by that
// are gone.
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

// moveTo has the bindings to a queue lead to its present actor.
func (bs *bindings) moveTo(q *queue, done func()) {
	g := newBarrier(done)
	for x := range q.sources {
		g.begin()
		r := bs.requests.ask(x, func(bool, error) { g.end() })
		bs.out.send(x.exchange.PID, &mail.MoveDestination{Request: r, To: q.queue})
	}
	g.end()
}
