package vhost

import (
	"strings"

	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// builtIn are the exchanges that every virtual host has besides the default one.
var builtIn = []mail.DeclareExchange{
	{Name: "amq.direct", Type: "direct", Durable: true},
	{Name: "amq.fanout", Type: "fanout", Durable: true},
	{Name: "amq.topic", Type: "topic", Durable: true},
	{Name: "amq.headers", Type: "headers", Durable: true},
	{Name: "amq.match", Type: "headers", Durable: true},
	{Name: "amq.rabbitmq.trace", Type: "topic", Durable: true, Internal: true},
}

// makeExchanges makes those that nobody declares. The default exchange has no
// actor: it routes by the directory and has no bindings.
func (v *vhost) makeExchanges() {
	v.publish(v.directory.WithExchange(&topology.Exchange{Type: "direct", Durable: true}))
	for _, list := range [][]mail.DeclareExchange{builtIn, v.cfg.SystemExchanges} {
		for i := range list {
			v.makeExchange(&list[i])
		}
	}
}

func (v *vhost) declareExchange(m *mail.DeclareExchange) {
	d := *m
	d.Name = plain(d.Name)
	x := v.exchanges[d.Name]
	if err := checkDeclare(&d); err != nil {
		v.done(d.Request, err)
		return
	}
	if x != nil && x.park(&d) {
		return
	}
	var err error
	switch {
	case x == nil:
		if err = v.refuseExchange(&d); err == nil {
			v.makeExchange(&d)
		}
	case !d.Passive:
		err = v.inequivalent(&d, x.exchange)
	}
	v.done(d.Request, err)
}

// checkDeclare is what is checked before anybody looks for the name.
func checkDeclare(d *mail.DeclareExchange) error {
	if !d.Passive {
		if _, known := topology.NewRoutes(d.Type); !known {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "unknown exchange type '%s'", d.Type)
		}
	}
	if d.Name == "" {
		return notOnDefault()
	}
	return nil
}

// refuseExchange tells why there is to be no such exchange, which does not exist.
func (v *vhost) refuseExchange(d *mail.DeclareExchange) error {
	switch {
	case d.Passive:
		return v.noExchange(d.Name)
	case strings.HasPrefix(d.Name, reserved):
		return reservedName("exchange", d.Name)
	}
	return refusal(policies.ValidateExchangeArguments(d.Name, v.cfg.VHost.Name, d.Arguments))
}

// inequivalent is DEC-4 for exchanges.
func (v *vhost) inequivalent(d *mail.DeclareExchange, x *topology.Exchange) error {
	return refusal(policies.EquivalentExchange(x.Name, v.cfg.VHost.Name,
		policies.ExchangeDeclaration{Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments},
		policies.ExchangeDeclaration{Type: d.Type, Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Arguments: d.Arguments}))
}

func (v *vhost) makeExchange(d *mail.DeclareExchange) {
	v.incarnation++
	x := &exchange{exchange: &topology.Exchange{
		Name: d.Name, Type: d.Type, Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Arguments: d.Arguments,
	}}
	effective := v.match(&x.name, policies.KindExchange, d.Name)
	props := v.cfg.NewExchange(ExchangeSpec{
		Exchange: x.exchange, VHost: v.cfg.VHost, Settings: policies.ExchangeSettingsFor(d.Arguments, effective),
	})
	x.exchange.PID = v.spawn(props, "exchange", d.Name, x)
	v.exchanges[d.Name] = x
	v.publish(v.directory.WithExchange(x.exchange))
}

func (v *vhost) deleteExchange(m *mail.DeleteExchange) {
	d := *m
	d.Name = plain(d.Name)
	x := v.exchanges[d.Name]
	switch {
	case d.Name == "":
		v.done(d.Request, notOnDefault())
	case v.isSystem(d.Name):
		v.done(d.Request, protocol.ChannelErrorf(protocol.AccessRefused,
			"deletion of system exchange '%s' in vhost '%s' not allowed", d.Name, v.cfg.VHost.Name))
	case x == nil:
		v.done(d.Request, nil)
	case x.park(&d):
	default:
		v.retire(x, d.IfUnused, func(err error) { v.done(d.Request, err) })
	}
}

func (v *vhost) isSystem(name string) bool {
	if strings.HasPrefix(name, reserved) {
		return true
	}
	for i := range v.cfg.SystemExchanges {
		if v.cfg.SystemExchanges[i].Name == name {
			return true
		}
	}
	return false
}

// exchangeUnused retires an auto-delete exchange, unless a Bind came between.
func (v *vhost) exchangeUnused(m *mail.ExchangeUnused) {
	x := v.exchanges[m.Name]
	if x == nil || !x.exchange.PID.Equal(m.Exchange) || x.phase != live {
		v.done(m.Request, nil)
		return
	}
	v.retire(x, true, func(error) { v.done(m.Request, nil) })
}

// retire ends a live exchange and calls done when it is forgotten, or has
// refused because it is in use.
func (v *vhost) retire(x *exchange, ifUnused bool, done func(error)) {
	x.phase = ending
	r := v.ask(x, func(_ bool, err error) {
		if err == nil {
			v.forgetExchange(x, func() { done(nil) })
			return
		}
		x.phase = live
		done(err)
		v.unpark(&x.name)
	})
	v.ctx.Send(x.exchange.PID, &mail.RetireExchange{Request: r, IfUnused: ifUnused})
}

// exchangeDied: it ended without being asked to.
func (v *vhost) exchangeDied(x *exchange) {
	v.cfg.Log.Error().Str("exchange", x.exchange.Name).Msg("an exchange ended by itself")
	v.answerFor(x)
	if x.phase == live {
		v.forgetExchange(x, func() {})
	}
}

// forgetExchange unpublishes an exchange that has ended.
func (v *vhost) forgetExchange(x *exchange, done func()) {
	x.phase = forgetting
	delete(v.children, x.exchange.PID.Id)
	v.publish(v.directory.WithoutExchange(x.exchange.Name))
	x.cut()
	v.answerFor(x)
	v.untie(&x.name, x.exchange.Name, true, func() {
		delete(v.exchanges, x.exchange.Name)
		done()
		v.unpark(&x.name)
	})
}
