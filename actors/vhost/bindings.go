package vhost

import (
	"cmp"

	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
)

// bind finds both ends and has the source exchange add the binding; it answers.
func (v *vhost) bind(m *mail.Bind) {
	b := *m
	b.Source, b.Binding.Destination = plain(b.Source), plain(b.Binding.Destination)
	if err := v.readable(b.Source, b.Topic); err != nil {
		v.done(b.Request, err)
		return
	}
	x, n, target, err := v.ends(b.Source, &b.Binding)
	if err == nil && (x.park(&b) || n.park(&b)) {
		return
	}
	if err == nil {
		err = v.allowed(target, b.Connection)
	}
	if err == nil {
		err = refusal(topology.ValidateBinding(x.exchange.RoutingType(), b.Binding.Arguments))
	}
	if err != nil {
		v.done(b.Request, err)
		return
	}
	if v.durable(x, target) && !(x.unsettled == 0 && x.exchange.Routes().Has(b.Binding)) {
		v.bindDurably(x, n, &b)
		return
	}
	v.addBinding(x, n, target, b.Request, &b)
}

func (v *vhost) addBinding(x *exchange, n *name, target topology.Target, r mail.Request, b *mail.Bind) {
	x.addSource(n)
	v.ctx.Send(x.exchange.PID, &mail.AddBinding{
		Request: r, Binding: b.Binding, Target: target, Exchange: b.Source, VHost: v.cfg.VHost.Name,
	})
}

// unbind has the source exchange remove the binding. What does not exist is not
// bound, which is what was asked for.
func (v *vhost) unbind(m *mail.Unbind) {
	b := *m
	b.Source, b.Binding.Destination = plain(b.Source), plain(b.Binding.Destination)
	if err := cmp.Or(v.notBindable(b.Source, &b.Binding), v.readable(b.Source, b.Topic)); err != nil {
		v.done(b.Request, err)
		return
	}
	x, n, target, err := v.ends(b.Source, &b.Binding)
	if err != nil {
		v.done(b.Request, nil)
		return
	}
	if x.park(&b) || n.park(&b) {
		return
	}
	if err := v.allowed(target, b.Connection); err != nil {
		v.done(b.Request, err)
		return
	}
	if !v.durable(x, target) {
		v.removeBinding(x, b.Request, &b)
		return
	}
	if x.unsettled == 0 && !x.exchange.Routes().Has(b.Binding) {
		v.done(b.Request, nil)
		return
	}
	v.unbindDurably(x, &b)
}

func (v *vhost) removeBinding(x *exchange, r mail.Request, b *mail.Unbind) {
	v.ctx.Send(x.exchange.PID, &mail.RemoveBinding{
		Request: r, Binding: b.Binding, Exchange: b.Source, VHost: v.cfg.VHost.Name,
	})
}

// ends finds what a binding connects. The source is missed first.
func (v *vhost) ends(source string, b *topology.Binding) (*exchange, *name, topology.Target, error) {
	var target topology.Target
	if err := v.notBindable(source, b); err != nil {
		return nil, nil, target, err
	}
	x := v.exchanges[source]
	if x == nil {
		return nil, nil, target, v.noExchange(source)
	}
	if b.ToExchange {
		to := v.exchanges[b.Destination]
		if to == nil {
			return nil, nil, target, v.noExchange(b.Destination)
		}
		target.Exchange = to.exchange
		return x, &to.name, target, nil
	}
	to := v.queueNamed(b.Destination)
	if to == nil {
		return nil, nil, target, v.noQueue(b.Destination)
	}
	target.Queue = to.queue
	return x, &to.name, target, nil
}

// readable checks the routing key of a binding against topic permissions.
func (v *vhost) readable(source string, topic mail.Leave) error {
	if x := v.exchanges[source]; x != nil && x.exchange.Type == "topic" {
		return topic.Err()
	}
	return nil
}

// allowed is DEC-5 for bindings.
func (v *vhost) allowed(t topology.Target, connection *actor.PID) error {
	if t.Queue != nil && lockedFor(t.Queue, connection) {
		return policies.ResourceLocked(t.Queue.Name, v.cfg.VHost.Name)
	}
	return nil
}
