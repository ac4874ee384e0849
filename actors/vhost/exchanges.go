package vhost

import (
	"strings"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
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
			v.startExchange(newExchange(&list[i]))
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
			return
		}
	case !d.Passive:
		err = v.inequivalent(&d, x.exchange)
	}
	v.done(d.Request, err)
}

// checkDeclare makes the checks that come before the name is looked up.
func checkDeclare(d *mail.DeclareExchange) error {
	if !d.Passive {
		if d.Type == "" {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "invalid exchange type ''")
		}
		if _, known := topology.NewRoutes(d.Type); !known && d.Type != topology.DelayedType {
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
	case v.isSystemExchange(d.Name): // it has ended by itself
		return v.systemName("exchange", d.Name)
	}
	if _, leads := policies.ExchangeLeadsTo(d.Arguments); leads {
		if err := d.Leave.Err(); err != nil {
			return err
		}
	}
	if err := policies.ValidateExchangeArguments(d.Name, v.cfg.VHost.Name, d.Arguments); err != nil {
		return err
	}
	return checkType(d)
}

// inequivalent is DEC-4 for exchanges.
func (v *vhost) inequivalent(d *mail.DeclareExchange, x *topology.Exchange) error {
	return refusal(policies.EquivalentExchange(x.Name, v.cfg.VHost.Name,
		policies.ExchangeDeclaration{Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments},
		policies.ExchangeDeclaration{Type: d.Type, Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Arguments: d.Arguments}))
}

// makeExchange makes an exchange and answers; a durable one is stored first.
func (v *vhost) makeExchange(d *mail.DeclareExchange) {
	x := newExchange(d)
	v.newHolder(x)
	if !d.Durable {
		v.startExchange(x)
		v.done(d.Request, nil)
		return
	}
	x.phase = coming
	v.exchanges[d.Name] = x
	v.store(definitions.Change{Put: v.exchangesStored(x)}, d, func(err error) { v.exchangeMade(x, d, err) })
}

// exchangeMade goes on when the definition of an exchange is stored, or is not.
func (v *vhost) exchangeMade(x *exchange, d *mail.DeclareExchange, err error) {
	delete(v.exchanges, d.Name)
	x.phase = live
	defer v.unpark(&x.name)
	if err != nil {
		v.failed(d, err)
		return
	}
	started := false
	defer func() { // what did not come now is not to come with the next start
		if !started {
			v.store(definitions.Change{Delete: v.exchangesStored(x)}, nil, v.forgotten)
		}
	}()
	v.startExchange(x)
	started = true
	v.done(d.Request, nil)
}

func newExchange(d *mail.DeclareExchange) *exchange {
	return &exchange{exchange: &topology.Exchange{
		Name: d.Name, Type: d.Type, Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Arguments: d.Arguments,
	}}
}

// startExchange makes the actor and publishes the name.
func (v *vhost) startExchange(x *exchange) {
	of, arguments := x.exchange.Name, x.exchange.Arguments
	effective := v.match(&x.name, policies.KindExchange, of)
	props := v.cfg.NewExchange(ExchangeSpec{
		Exchange: x.exchange, VHost: v.cfg.VHost, Settings: policies.ExchangeSettingsFor(arguments, effective),
	})
	x.exchange.PID = v.spawn(props, childName("exchange", of, v.incarnate()), x)
	v.exchanges[of] = x
	if x.holder != nil {
		v.startQueue(x.holder, nil, false)
	}
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
	return strings.HasPrefix(name, reserved) || v.isSystemExchange(name)
}

// exchangeUnused retires an auto-delete exchange, unless a Bind came between.
func (v *vhost) exchangeUnused(m *mail.ExchangeUnused) {
	if m.ReplyTo != nil && m.ReplyTo.Equal(v.ctx.Self()) { // the unbinding of a durable one
		v.answered(mail.Reply{ID: m.ID}, true)
		return
	}
	x := v.exchanges[m.Name]
	if x == nil || x.phase != live || !x.exchange.PID.Equal(m.Exchange) {
		v.done(m.Request, nil)
		return
	}
	v.retire(x, true, func(error) { v.done(m.Request, nil) })
}

// retire ends a live exchange and calls done when it is forgotten, or has
// refused because it is in use. A durable one goes from the store in between.
func (v *vhost) retire(x *exchange, ifUnused bool, done func(error)) {
	x.phase = ending
	refused := func(err error) {
		x.phase = live
		done(err)
		v.unpark(&x.name)
	}
	end := func(ifUnused bool) {
		v.askToRetire(x, mail.RetireExchange{IfUnused: ifUnused}, refused, func() {
			v.forgetExchange(x, func() { done(nil) })
		})
	}
	if !x.exchange.Durable || v.cfg.Meta == nil {
		end(ifUnused)
		return
	}
	v.whenSettled(x, func() {
		v.askToRetire(x, mail.RetireExchange{IfUnused: ifUnused, Ask: true}, refused, func() {
			v.store(definitions.Change{Delete: v.exchangesStored(x)}, nil, func(err error) {
				if err != nil {
					refused(v.notStored(err))
					return
				}
				end(false) // binds wait
			})
		})
	})
}

func (v *vhost) askToRetire(x *exchange, m mail.RetireExchange, refused func(error), agreed func()) {
	m.Request = v.ask(x, func(_ bool, err error) {
		if err != nil {
			refused(err)
			return
		}
		agreed()
	})
	v.ctx.Send(x.exchange.PID, &m)
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
	x.forgetSources()
	v.answerFor(x)
	v.removeBindingsTo(&x.name, x.exchange.Name, true, func() {
		v.dropHolder(x, func() {
			delete(v.exchanges, x.exchange.Name)
			done()
			v.unpark(&x.name)
		})
	})
}
