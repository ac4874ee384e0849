package vhost

import (
	"slices"

	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/policies"
)

// builtIn are the exchanges of every virtual host besides the default exchange.
var builtIn = []mail.DeclareExchange{
	{Name: "amq.direct", Type: "direct", Durable: true},
	{Name: "amq.fanout", Type: "fanout", Durable: true},
	{Name: "amq.topic", Type: "topic", Durable: true},
	{Name: "amq.headers", Type: "headers", Durable: true},
	{Name: "amq.match", Type: "headers", Durable: true},
	{Name: "amq.rabbitmq.trace", Type: "topic", Durable: true, Internal: true},
}

// exchanges creates and deletes exchanges.
type exchanges struct {
	*shared
	byName map[string]*exchange
}

// makeBuiltIn creates the built-in exchanges. The default exchange has no actor: it routes by the directory and has
// no bindings.
func (xs *exchanges) makeBuiltIn() {
	xs.publish(xs.directory.WithExchange(&topology.Exchange{Type: "direct", Durable: true}))
	for _, d := range slices.Concat(builtIn, xs.cfg.Further, xs.cfg.SystemExchanges) {
		xs.start(newExchange(&d, xs.cfg.VHost, ""))
	}
}

func (xs *exchanges) declare(m *mail.DeclareExchange) {
	d := *m
	d.Name = plain(d.Name)
	x := xs.byName[d.Name]
	if err := refusal.AnyExchange(&d); err != nil {
		xs.out.done(d.Request, err)
		return
	}
	if x != nil && x.park(&d) {
		return
	}
	var err error
	switch {
	case x == nil:
		if err = xs.refuse(&d); err == nil {
			xs.make(&d)
			return
		}
	case !d.Passive:
		err = xs.rules.OtherExchange(x.exchange, &d)
	}
	xs.out.done(d.Request, err)
}

// refuse returns why an exchange that does not exist may not be created.
func (xs *exchanges) refuse(d *mail.DeclareExchange) error {
	if err := xs.rules.NewExchange(d); err != nil {
		return err
	}
	if xs.cfg.AllExchanges != nil {
		if limit, reached := xs.cfg.AllExchanges(); reached {
			return xs.rules.TooManyExchanges(d.Name, limit)
		}
	}
	return xs.room(d.By, exchangeMemory(d.Name, d.Arguments), "declare exchange '%s' in vhost '%s'", d.Name, xs.vhost)
}

// make creates an exchange and answers; a durable exchange is stored first.
func (xs *exchanges) make(d *mail.DeclareExchange) {
	x := newExchange(d, xs.cfg.VHost, userOf(d.By))
	xs.queues.newHolder(x)
	if !d.Durable {
		xs.start(x)
		xs.publishExchangeEvent("exchange.created", d.By, x.exchange)
		xs.out.done(d.Request, nil)
		return
	}
	x.phase = coming
	xs.byName[d.Name] = x
	x.paid.begin(xs.holder(x.exchange.User), exchangeMemory(d.Name, d.Arguments)) // now: others may be declared before it is stored
	xs.store(definitions.Change{Put: xs.definitions(x)}, d, func(err error) { xs.made(x, d, err) })
}

// made continues after the definition of an exchange was stored or, if err is not nil, could not be stored.
func (xs *exchanges) made(x *exchange, d *mail.DeclareExchange, err error) {
	delete(xs.byName, d.Name)
	x.phase = live
	defer xs.unpark(&x.name)
	if err != nil {
		x.paid.pay(0)
		xs.failed(d, err)
		return
	}
	started := false
	defer func() { // an exchange that was not created now must not appear after a restart
		if !started {
			x.paid.pay(0)
			xs.store(definitions.Change{Delete: xs.definitions(x)}, nil, xs.forgotten)
		}
	}()
	xs.start(x)
	started = true
	xs.publishExchangeEvent("exchange.created", d.By, x.exchange)
	xs.out.done(d.Request, nil)
}

func newExchange(d *mail.DeclareExchange, v *topology.VHost, user string) *exchange {
	return &exchange{exchange: &topology.Exchange{
		Name: d.Name, Type: d.Type, Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Arguments: d.Arguments, VHost: v, User: user,
	}}
}

// start spawns the actor and publishes the name.
func (xs *exchanges) start(x *exchange) {
	of := x.exchange.Name
	effective := xs.matcher.set.Effective(policies.KindExchange, of)
	xs.matched(&x.name, of, effective)
	props := propsOf(xs.cfg.NewExchange, ExchangeSpec{
		Exchange: x.exchange, VHost: xs.cfg.VHost, Settings: policies.ExchangeSettingsFor(x.exchange.Arguments, effective),
	})
	xs.spawn(props, childName("exchange", of, xs.incarnate()), x, &x.exchange.PID)
	x.paid.begin(xs.holder(x.exchange.User), exchangeMemory(of, x.exchange.Arguments))
	xs.byName[of] = x
	if x.holder != nil {
		xs.queues.start(x.holder, nil, false)
	}
	xs.publish(xs.directory.WithExchange(x.exchange))
}

func (xs *exchanges) delete(m *mail.DeleteExchange) {
	d := *m
	d.Name = plain(d.Name)
	x := xs.byName[d.Name]
	switch err := xs.rules.DeleteExchange(d.Name); {
	case err != nil || x == nil:
		xs.out.done(d.Request, err)
	case x.park(&d):
	default:
		x.by = d.By
		xs.retire(x, d.IfUnused, func(err error) { xs.out.done(d.Request, err) })
	}
}

// unused retires an auto-delete exchange, unless a Bind arrived first.
func (xs *exchanges) unused(m *mail.ExchangeUnused) {
	if mail.Same(m.ReplyTo, xs.self) { // the removal of a durable binding
		xs.requests.answered(m.ID, true, nil)
		return
	}
	x := xs.byName[m.Name]
	xs.retireUnused(x, x != nil && mail.Same(x.exchange.PID, m.Exchange), func() { xs.out.done(m.Request, nil) })
}

// retireUnused retires an auto-delete exchange if it is unused, and calls done when that is decided.
func (xs *exchanges) retireUnused(x *exchange, unused bool, done func()) {
	if !unused || x.phase != live {
		done()
		return
	}
	x.by = nil
	xs.retire(x, true, func(error) { done() })
}

// retire ends a live exchange and calls done when it is forgotten, or has refused because it is in use. In between, a
// durable exchange is deleted from the store.
func (xs *exchanges) retire(x *exchange, ifUnused bool, done func(error)) {
	x.phase = asked
	refused := func(err error) {
		x.phase = live
		done(err)
		xs.unpark(&x.name)
	}
	end := func(ifUnused bool) {
		xs.askToRetire(x, mail.RetireExchange{IfUnused: ifUnused}, refused, func() {
			xs.forget(x, func() { done(nil) })
		})
	}
	if !x.exchange.Durable || xs.cfg.Meta == nil {
		end(ifUnused)
		return
	}
	x.afterWrites(func() {
		xs.askToRetire(x, mail.RetireExchange{IfUnused: ifUnused, Ask: true}, refused, func() {
			xs.store(definitions.Change{Delete: xs.definitions(x)}, nil, func(err error) {
				if err != nil {
					xs.notStored(err)
					refused(mail.NotStored())
					return
				}
				end(false) // Bind commands are waiting
			})
		})
	})
}

func (xs *exchanges) askToRetire(x *exchange, m mail.RetireExchange, refused func(error), agreed func()) {
	m.Request = xs.requests.ask(x, func(_ bool, err error) {
		if err != nil {
			refused(err)
			return
		}
		agreed()
	})
	xs.out.send(x.exchange.PID, &m)
}

// died handles an exchange that ended unexpectedly.
func (xs *exchanges) died(x *exchange) {
	xs.cfg.Log.Error().Str("exchange", x.exchange.Name).Msg("an exchange actor stopped unexpectedly")
	xs.requests.answerFor(x)
	if x.phase == live {
		xs.forget(x, func() {})
	}
}

// forget unpublishes an exchange that has ended.
func (xs *exchanges) forget(x *exchange, done func()) {
	x.phase = forgetting
	xs.children.forgetChild(x.exchange.PID, 0)
	xs.publish(xs.directory.WithoutExchange(x.exchange.Name))
	x.forgetSources()
	xs.requests.answerFor(x)
	xs.bindings.removeTo(&x.name, x.exchange.Name, true, func() {
		xs.queues.dropHolder(x, func() {
			delete(xs.byName, x.exchange.Name)
			x.paid.pay(0)
			xs.deleted(x)
			done()
			xs.unpark(&x.name)
		})
	})
}
