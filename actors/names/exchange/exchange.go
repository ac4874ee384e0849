package exchange

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/protocol"

	"candlemark/actors/system/actorlib"
	"github.com/asynkron/protoactor-go/actor"
)

// Config configures an exchange.
type Config struct {
	// Exchange identifies the exchange; the actor publishes its tables on it. topology.NewRoutes must know its routing
	// type.
	Exchange *topology.Exchange
	VHost    *topology.VHost
	// Settings are the effective settings when it is declared.
	Settings policies.ExchangeSettings
	// Events receives events of bindings; nil for none.
	Events *events.Hub
	// For an exchange that keeps messages: the clock; the room shared with all other exchanges, nil for no limit; the
	// valve for which bindings with kept messages wait, and what permits the copies for them, nil for none.
	Clock  *clock.Clock
	Room   *budget.Room
	Valve  *budget.Valve
	Copies *budget.Copies
	// Objects counts bindings for who made them; nil for no limit.
	Objects *budget.Objects
	// Close closes the actor's mailbox and returns the mail left in it.
	Close func() []any
}

// exchange is the actor; its parent is the vhost.
type exchange struct {
	cfg    Config
	routes *topology.BindingTable // the published table
	keeper *keeper                // nil unless it keeps messages
	ended  bool                   // the table is empty and the mailbox closed
}

// New returns the actor. It needs a mailbox of package actors/system/mailbox. The settings are published before New returns,
// so that no directory shows the exchange without its alternate exchange. If the exchange keeps messages, Exchange.PID
// must be set.
func New(cfg Config) actor.Actor {
	routes, known := topology.NewRoutes(cfg.Exchange.RoutingType(), cfg.Exchange.Arguments)
	if !known {
		panic("exchange: unknown type " + cfg.Exchange.RoutingType())
	}
	x := &exchange{cfg: cfg, routes: configured(routes.Of(cfg.Exchange.Name), cfg.Settings)}
	if cfg.Exchange.RoutingType() == topology.RecentHistoryType {
		x.keeper = newKeeper(&cfg)
		x.routes = x.routes.WithHistory(cfg.Exchange)
	}
	cfg.Exchange.Publish(x.routes)
	return x
}

// Receive handles one mail.
func (x *exchange) Receive(ctx actor.Context) {
	defer actorlib.AnswerPanic(ctx)
	switch m := ctx.Message().(type) {
	case *mail.AddBinding:
		if !x.bindLater(ctx, m) {
			x.bind(ctx, m)
		}
	case *mail.RemoveBinding:
		x.removeBinding(ctx, m)
	case *mail.ForgetDestination:
		x.forgetDestination(ctx, m)
	case *mail.MoveDestination:
		x.keeper.move(m.To)
		x.publish(x.routes.WithMoved(m.To))
		reply(ctx, m.Request, &mail.ConfigureExchangeReply{Reply: m.Done(nil)})
	case *mail.ConfigureExchange:
		x.publish(configured(x.routes, m.Settings))
		reply(ctx, m.Request, &mail.ConfigureExchangeReply{Reply: m.Done(nil)})
	case *mail.RetireExchange:
		x.retire(ctx, m)
	case *actor.Stopping:
		x.end(ctx, mail.Failed)
	default:
		x.keeps(ctx, m)
	}
}

func (x *exchange) bind(ctx actor.Context, m *mail.AddBinding) {
	routes, _ := x.routes.With(m.Binding, m.Target)
	if err := routes.CheckLoad(x.routes, m.Exchange, m.VHost); err != nil && m.By != nil { // stored ones are kept
		reply(ctx, m.Request, &mail.TopologyReply{Reply: m.Done(err)})
		return
	}
	if x.publish(routes) {
		x.count(1, m.Binding)
		x.publishEvent("binding.created", m.By, m.Binding, m.Target)
	}
	reply(ctx, m.Request, &mail.TopologyReply{Reply: m.Done(nil)})
}

func (x *exchange) removeBinding(ctx actor.Context, m *mail.RemoveBinding) {
	x.keeper.withdraw(ctx, m.Binding.Same, nil)
	was, to := x.routes.Find(m.Binding)
	routes, _ := x.routes.Without(m.Binding)
	lost := x.publish(routes)
	if lost {
		x.count(-1, was)
		x.publishEvent("binding.deleted", m.By, m.Binding, to)
	}
	if lost && x.unused() {
		ctx.Send(ctx.Parent(), &mail.ExchangeUnused{Request: m.Request, Name: x.cfg.Exchange.Name, Exchange: ctx.Self()})
		return
	}
	reply(ctx, m.Request, &mail.TopologyReply{Reply: m.Done(nil)})
}

func (x *exchange) forgetDestination(ctx actor.Context, m *mail.ForgetDestination) {
	x.keeper.withdraw(ctx, func(b topology.Binding) bool {
		return b.Destination == m.Name && b.ToExchange == m.ToExchange
	}, mail.NoDestination(m, x.cfg.VHost.Name))
	x.uncount(x.routes.BindingsTo(m.Name, m.ToExchange))
	lost := x.publish(x.routes.WithoutDestination(m.Name, m.ToExchange))
	reply(ctx, m.Request, &mail.ForgetDestinationReply{Reply: m.Done(nil), Unused: lost && x.unused()})
}

// unused reports whether the exchange has to end after losing a binding.
func (x *exchange) unused() bool { return x.cfg.Exchange.AutoDelete && x.bindings() == 0 }

// bindings returns the number of bindings, including waiting ones.
func (x *exchange) bindings() int { return x.routes.Len() + x.keeper.waiting() }

func (x *exchange) retire(ctx actor.Context, m *mail.RetireExchange) {
	if m.IfUnused && x.bindings() > 0 {
		err := protocol.ChannelErrorf(protocol.PreconditionFailed, "exchange '%s' in vhost '%s' in use",
			x.cfg.Exchange.Name, x.cfg.VHost.Name)
		reply(ctx, m.Request, &mail.RetireExchangeReply{Reply: m.Done(err)})
		return
	}
	if m.Ask {
		reply(ctx, m.Request, &mail.RetireExchangeReply{Reply: m.Done(nil)})
		return
	}
	x.end(ctx, mail.Gone)
	reply(ctx, m.Request, &mail.RetireExchangeReply{Reply: m.Done(nil)})
	ctx.Stop(ctx.Self())
}

// end empties the table and closes the mailbox; only then may the actor stop (PRO-1).
func (x *exchange) end(ctx actor.Context, cause mail.Cause) {
	if x.ended {
		return
	}
	x.ended = true
	x.uncount(x.routes.Bindings())
	empty, _ := topology.NewRoutes(x.cfg.Exchange.RoutingType(), x.cfg.Exchange.Arguments)
	x.keeper.end(ctx, cause)
	x.keeper = nil
	x.publish(empty)
	actorlib.AnswerAll(ctx, x.cfg.Close(), cause)
}

// publish makes routes the current table and reports whether it has changed.
func (x *exchange) publish(routes *topology.BindingTable) bool {
	if routes == x.routes {
		return false
	}
	if x.keeper != nil {
		routes = routes.WithHistory(x.cfg.Exchange)
	}
	x.routes = routes
	x.cfg.Exchange.Publish(routes)
	x.cfg.VHost.Bump()
	return true
}

// count counts a binding for the user who made it, once or -1 times.
func (x *exchange) count(times int64, b topology.Binding) {
	x.cfg.Objects.Definitions(b.User, x.cfg.VHost.Name).Hold(times * (budget.PriceBinding + b.Memory()))
}

func configured(r *topology.BindingTable, s policies.ExchangeSettings) *topology.BindingTable {
	alternate, ttl := "", int64(-1)
	if s.HasAE {
		alternate = s.AlternateExchange
	}
	if s.HasMaxTTL {
		ttl = s.MaxTTL
	}
	return r.WithAlternate(alternate).WithMaxTTL(ttl)
}

func reply(ctx actor.Context, r mail.Request, answer any) {
	if r.ReplyTo != nil {
		actorlib.Send(ctx, r.ReplyTo, answer)
	}
}
