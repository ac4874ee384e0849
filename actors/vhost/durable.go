package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
)

// stored: a change of the definitions is durable, or was refused.
type stored struct {
	then    func(error)
	err     error
	command mail.Answerable // what wants it; nil for nobody
}

// Answer implements mail.Answerable.
func (s *stored) Answer(f mail.Fate) (*actor.PID, any) {
	if s.command == nil {
		return nil, nil
	}
	return s.command.Answer(f)
}

// store has a change made durable and goes on with then in a later turn, or at
// once if nothing is kept. Changes are answered in the order of the calls.
func (v *vhost) store(c definitions.Change, command mail.Answerable, then func(error)) {
	if v.cfg.Meta == nil {
		then(nil)
		return
	}
	self, root := v.ctx.Self(), v.ctx.ActorSystem().Root
	v.cfg.Meta.Apply(c, func(_ uint64, err error) { root.Send(self, &stored{then, err, command}) })
}

// failed answers a command whose change could not be stored.
func (v *vhost) failed(command mail.Answerable, err error) {
	_ = v.notStored(err)
	mail.AnswerAll(v.ctx, []any{command}, mail.Unstored)
}

// notStored logs that and returns the error for the asker.
func (v *vhost) notStored(err error) error {
	v.cfg.Log.Error().Err(err).Msg("a definition could not be stored")
	return mail.NotStored()
}

// forgotten is the end of a deletion that nobody can be told of.
func (v *vhost) forgotten(err error) {
	if err != nil {
		v.cfg.Log.Error().Err(err).Msg("a definition could not be deleted")
	}
}

func (v *vhost) exchangeStored(x *topology.Exchange) definitions.Exchange {
	return definitions.Exchange{
		VHost: v.cfg.VHost.Name, Name: x.Name, Type: x.Type,
		AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments,
	}
}

func (v *vhost) queueStored(q *topology.Queue) definitions.Queue {
	return definitions.Queue{
		VHost: v.cfg.VHost.Name, Name: q.Name, Type: q.Type, Incarnation: q.Incarnation,
		AutoDelete: q.AutoDelete, Arguments: q.Arguments,
	}
}

func (v *vhost) bindingStored(source string, b *topology.Binding) definitions.Binding {
	return definitions.Binding{
		VHost: v.cfg.VHost.Name, Source: source, Destination: b.Destination, ToExchange: b.ToExchange,
		RoutingKey: b.RoutingKey, Arguments: b.Arguments,
	}
}

// durable tells whether a binding is kept: if both ends are.
func (v *vhost) durable(x *exchange, to topology.Target) bool {
	if v.cfg.Meta == nil || !x.exchange.Durable {
		return false
	}
	if to.Queue != nil {
		return to.Queue.Durable
	}
	return to.Exchange.Durable
}

// bindDurably stores a binding, then has it published. Meanwhile an end may have
// gone, and with it the binding.
func (v *vhost) bindDurably(x *exchange, n *name, b *mail.Bind) {
	x.unsettled++
	change := definitions.Change{Put: []any{v.bindingStored(b.Source, &b.Binding)}}
	v.store(change, b, func(err error) {
		if err != nil {
			v.bindingsStored(x)
			v.failed(b, err)
			return
		}
		source, to, target, err := v.ends(b.Source, &b.Binding)
		switch {
		case err != nil:
		case source != x || x.phase == forgetting:
			err = v.noExchange(b.Source)
		case to != n && b.Binding.ToExchange:
			err = v.noExchange(b.Binding.Destination)
		case to != n:
			err = v.noQueue(b.Binding.Destination)
		}
		if err != nil {
			v.bindingsStored(x)
			v.done(b.Request, err)
			return
		}
		v.addBinding(x, n, target, v.ask(x, func(_ bool, err error) {
			if err != nil {
				v.store(definitions.Change{Delete: change.Put}, nil, v.forgotten)
			}
			v.bindingsStored(x)
			v.done(b.Request, err)
		}), b)
	})
}

// unbindDurably deletes a binding from the store, then has it unpublished.
func (v *vhost) unbindDurably(x *exchange, b *mail.Unbind) {
	x.unsettled++
	change := definitions.Change{Delete: []any{v.bindingStored(b.Source, &b.Binding)}}
	v.store(change, b, func(err error) {
		switch {
		case err != nil:
			v.bindingsStored(x)
			v.failed(b, err)
		case v.exchanges[b.Source] != x || x.phase == forgetting:
			v.bindingsStored(x)
			v.done(b.Request, nil)
		default:
			v.removeBinding(x, v.ask(x, func(unused bool, err error) {
				v.bindingsStored(x)
				if unused && x.phase == live {
					v.retire(x, true, func(error) { v.done(b.Request, nil) })
					return
				}
				v.done(b.Request, err)
			}), b)
		}
	})
}

// bindingsStored ends a change of the durable bindings of x.
func (v *vhost) bindingsStored(x *exchange) {
	if x.unsettled--; x.unsettled > 0 {
		return
	}
	settled := x.settled
	x.settled = nil
	for _, f := range settled {
		f()
	}
}

// whenSettled calls f when no durable binding of x is about to change.
func (v *vhost) whenSettled(x *exchange, f func()) {
	if x.unsettled == 0 {
		f()
		return
	}
	x.settled = append(x.settled, f)
}
