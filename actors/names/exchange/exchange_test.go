package exchange_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/names/exchange"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/actors/system/mailbox"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is one exchange in a bubble, whose parent and requester is a probe.
type fixture struct {
	t        *testing.T
	root     *actor.RootContext
	exchange *topology.Exchange
	vhost    *topology.VHost
	probe    *actor.PID
	mails    chan any // mail received by the probe
	asked    uint64
}

func withFixture(t *testing.T, x *topology.Exchange, settings policies.ExchangeSettings, test func(h *fixture)) {
	t.Helper()
	withConfiguredFixture(t, x, settings, func(*exchange.Config) {}, test)
}

func withConfiguredFixture(t *testing.T, x *topology.Exchange, settings policies.ExchangeSettings, more func(*exchange.Config), test func(h *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		system := actor.NewActorSystemWithConfig(actor.Configure(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
		h := &fixture{t: t, root: system.Root, exchange: x, vhost: topology.NewVHost("/"), mails: make(chan any, 100)}
		// Mail to an actor that has ended is answered, as by supervision.
		system.EventStream.Subscribe(func(event any) {
			if late, ok := event.(*actor.DeadLetterEvent); ok {
				actorlib.AnswerAll(h.root, []any{late.Message}, mail.Gone)
			}
		})
		box := mailbox.New(func(m any) { actorlib.AnswerAll(h.root, []any{m}, mail.Gone) })
		props := actor.PropsFromProducer(func() actor.Actor {
			cfg := exchange.Config{Exchange: x, VHost: h.vhost, Settings: settings, Close: box.Close}
			more(&cfg)
			return exchange.New(cfg)
		}, actor.WithMailbox(func() actor.Mailbox { return box }))
		h.probe = system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case *actor.Started:
				x.PID = actorlib.ChildOf(ctx.Self(), "x")
				var err error
				if x.PID, err = ctx.SpawnNamed(props, "x"); err != nil {
					t.Error(err)
				}
			case *actor.Stopping, *actor.Stopped:
			default:
				h.mails <- m
			}
		}))
		defer func() {
			_ = h.root.StopFuture(h.probe).Wait()
			system.Shutdown()
			time.Sleep(system.Config.DeadLetterThrottleInterval) // the library's own goroutine ends after that
		}()
		synctest.Wait()
		test(h)
	})
}

func (h *fixture) ask() mail.Request {
	h.asked++
	return mail.Request{ReplyTo: h.probe, ID: h.asked}
}

func (h *fixture) send(mails ...any) {
	for _, m := range mails {
		actorlib.Send(h.root, h.exchange.PID, m)
	}
	synctest.Wait()
}

func take[T any](h *fixture) T {
	h.t.Helper()
	var none T
	select {
	case got := <-h.mails:
		m, ok := got.(T)
		if !ok {
			h.t.Fatalf("%T %v, want %T", got, got, none)
		}
		return m
	default:
		h.t.Fatalf("no mail, want %T", none)
	}
	return none
}

func (h *fixture) bindings() (keys []string) {
	for b := range h.exchange.Routes().Bindings() {
		keys = append(keys, b.RoutingKey+"->"+b.Destination)
	}
	slices.Sort(keys)
	return keys
}

func (h *fixture) bind(key string, q *topology.Queue) {
	h.t.Helper()
	h.send(&mail.AddBinding{
		Request: h.ask(), Binding: topology.Binding{Destination: q.Name, RoutingKey: key}, Target: topology.Target{Queue: q},
		Exchange: h.exchange.Name, VHost: "/",
	})
	if r := take[*mail.TopologyReply](h); r.Err != nil || r.ID != h.asked {
		h.t.Errorf("%+v", r)
	}
}

// TestCostlyBindingIsRefused_DEC19: a costly binding is refused, but not a stored one.
func TestCostlyBindingIsRefused_DEC19(t *testing.T) {
	withFixture(t, &topology.Exchange{Name: "x", Type: "topic"}, policies.ExchangeSettings{}, func(h *fixture) {
		q := &topology.Queue{Name: "q"}
		for i, test := range []struct {
			word string
			by   *events.Origin
		}{{"*", &events.Origin{}}, {"a", &events.Origin{}}, {"a", nil}} {
			h.send(&mail.AddBinding{
				Request: mail.Request{ReplyTo: h.probe, By: test.by}, Target: topology.Target{Queue: q}, Exchange: "x", VHost: "/",
				Binding: topology.Binding{Destination: "q", RoutingKey: "#." + test.word + strings.Repeat(".", 240) + ".#"},
			})
			if r := take[*mail.TopologyReply](h); (r.Err != nil) != (i == 1) {
				t.Errorf("%d: %v", i, r.Err)
			}
		}
		if n := h.exchange.Routes().Len(); n != 2 {
			t.Errorf("%d bindings", n)
		}
	})
}

func TestBindingsArePublishedBeforeTheAnswer(t *testing.T) { // PRO-4
	x := &topology.Exchange{Name: "x", Type: "direct"}
	withFixture(t, x, policies.ExchangeSettings{}, func(h *fixture) {
		a, b := &topology.Queue{Name: "a"}, &topology.Queue{Name: "b"}
		before := h.vhost.Generation()
		h.bind("k", a)
		h.bind("l", a)
		h.bind("k", b)
		grown := h.vhost.Generation()
		h.bind("k", b) // it exists already
		if want := []string{"k->a", "k->b", "l->a"}; !slices.Equal(h.bindings(), want) || grown != before+3 || h.vhost.Generation() != grown {
			t.Errorf("bindings %v, generations %d %d %d", h.bindings(), before, grown, h.vhost.Generation())
		}
		remove := topology.Binding{Destination: "a", RoutingKey: "k"}
		h.send(&mail.RemoveBinding{Request: h.ask(), Binding: remove}, &mail.RemoveBinding{Request: h.ask(), Binding: remove})
		for range 2 { // removing a binding that does not exist is no error
			if r := take[*mail.TopologyReply](h); r.Err != nil {
				t.Error(r.Err)
			}
		}
		h.send(&mail.ForgetDestination{Request: h.ask(), Name: "b"})
		if r := take[*mail.ForgetDestinationReply](h); r.Unused || r.ID != h.asked {
			t.Errorf("%+v", r)
		}
		if want := []string{"l->a"}; !slices.Equal(h.bindings(), want) {
			t.Errorf("bindings %v", h.bindings())
		}
	})
}

func TestAlternateExchange(t *testing.T) { // DEC-14, POL-8
	x := &topology.Exchange{Name: "x", Type: "fanout"}
	withFixture(t, x, policies.ExchangeSettings{AlternateExchange: "ae", HasAE: true}, func(h *fixture) {
		if x.Routes().Alternate != "ae" {
			t.Error("not there from the start")
		}
		for _, name := range []string{"other", ""} {
			h.send(&mail.ConfigureExchange{Request: h.ask(), Settings: policies.ExchangeSettings{AlternateExchange: name, HasAE: name != ""}})
			if r := take[*mail.ConfigureExchangeReply](h); r.ID != h.asked || x.Routes().Alternate != name {
				t.Errorf("%q %+v", x.Routes().Alternate, r)
			}
		}
	})
}

func TestTTL9_MaxTTL(t *testing.T) {
	x := &topology.Exchange{Name: "x", Type: "fanout"}
	withFixture(t, x, policies.ExchangeSettings{MaxTTL: 5, HasMaxTTL: true}, func(h *fixture) {
		if r := x.Routes(); !r.Capped || r.MaxTTL != 5 {
			t.Error("not there from the start")
		}
		for _, want := range []policies.ExchangeSettings{{MaxTTL: 0, HasMaxTTL: true}, {}} {
			before := h.vhost.Generation()
			h.send(&mail.ConfigureExchange{Request: h.ask(), Settings: want})
			take[*mail.ConfigureExchangeReply](h)
			if r := x.Routes(); r.Capped != want.HasMaxTTL || r.MaxTTL != 0 || h.vhost.Generation() == before {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestAutoDeleteSaysWhenUnused(t *testing.T) {
	x := &topology.Exchange{Name: "x", Type: "topic", AutoDelete: true}
	withFixture(t, x, policies.ExchangeSettings{}, func(h *fixture) {
		q := &topology.Queue{Name: "q"}
		h.send(&mail.ForgetDestination{Request: h.ask(), Name: "q"})
		if take[*mail.ForgetDestinationReply](h).Unused {
			t.Error("it had no binding to lose")
		}
		h.bind("k", q)
		h.send(&mail.RemoveBinding{Request: h.ask(), Binding: topology.Binding{Destination: "q", RoutingKey: "k"}})
		u := take[*mail.ExchangeUnused](h) // the vhost answers the Unbind
		if u.ID != h.asked || u.Name != "x" || !mail.Same(u.Exchange, x.PID) {
			t.Errorf("%+v", u)
		}
		h.bind("k", q)
		h.send(&mail.RetireExchange{Request: h.ask(), IfUnused: true}) // a Bind arrived in between
		e, ok := take[*mail.RetireExchangeReply](h).Err.(*protocol.ChannelError)
		if !ok || e.Code != 406 || e.Text != "PRECONDITION_FAILED - exchange 'x' in vhost '/' in use" {
			t.Errorf("%v", e)
		}
		h.send(&mail.ForgetDestination{Request: h.ask(), Name: "q"})
		if !take[*mail.ForgetDestinationReply](h).Unused {
			t.Error("the last binding went")
		}
	})
}

func TestRetiredExchangeLosesNoMail(t *testing.T) { // PRO-1
	x := &topology.Exchange{Name: "x", Type: "direct"}
	withFixture(t, x, policies.ExchangeSettings{}, func(h *fixture) {
		q := &topology.Queue{Name: "q"}
		h.bind("k", q)
		add := &mail.AddBinding{Request: h.ask(), Binding: topology.Binding{Destination: "q"}, Target: topology.Target{Queue: q}, Exchange: "x", VHost: "/"}
		h.send(&mail.RetireExchange{Request: h.ask()}, &mail.ForgetDestination{Request: h.ask(), Name: "q"}, add)
		h.send(&mail.ConfigureExchange{Request: h.ask()}) // after its end
		ids := map[uint64]bool{}
		var terminated bool
		for len(h.mails) > 0 {
			switch m := (<-h.mails).(type) {
			case *mail.RetireExchangeReply:
				ids[m.ID] = m.Err == nil
			case *mail.ForgetDestinationReply:
				ids[m.ID] = true
			case *mail.ConfigureExchangeReply:
				ids[m.ID] = true
			case *mail.TopologyReply:
				e, ok := m.Err.(*protocol.ChannelError)
				ids[m.ID] = ok && e.Text == "NOT_FOUND - no exchange 'x' in vhost '/'"
			case *actor.Terminated:
				terminated = true
			}
		}
		for id := uint64(2); id <= h.asked; id++ {
			if !ids[id] {
				t.Errorf("mail %d was not answered as it should", id)
			}
		}
		if !terminated || x.Routes().Len() != 0 {
			t.Error("it goes on, or still routes")
		}
	})
}

func TestPanicIsAnswered(t *testing.T) {
	x := &topology.Exchange{Name: "x", Type: "direct"}
	withFixture(t, x, policies.ExchangeSettings{}, func(h *fixture) {
		impossible := protocol.Table{{Key: "k", Value: struct{}{}}}
		h.send(&mail.AddBinding{Request: h.ask(), Binding: topology.Binding{Arguments: impossible}, Exchange: "x", VHost: "/"})
		e, ok := take[*mail.TopologyReply](h).Err.(*protocol.ConnectionError)
		if !ok || e.Code != 541 || e.Text != "INTERNAL_ERROR - exchange 'x' in vhost '/' failed" {
			t.Errorf("%v", e)
		}
	})
}
