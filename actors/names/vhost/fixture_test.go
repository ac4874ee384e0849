package vhost_test

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/names/vhost"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probe is an actor that records its mail.
type probe struct {
	pid   *actor.PID
	mu    sync.Mutex
	mails []any
	// answer, unless nil, is called for each mail in the probe's turn.
	answer func(ctx actor.Context, m any)
}

func (p *probe) Receive(ctx actor.Context) {
	m := ctx.Message()
	switch m.(type) {
	case *actor.Started, *actor.Stopping, *actor.Stopped:
		return
	}
	p.mu.Lock()
	p.mails = append(p.mails, m)
	answer := p.answer
	p.mu.Unlock()
	if answer != nil {
		answer(ctx, m)
	}
}

// fixture is one vhost with probes for its children, in a bubble.
type fixture struct {
	t      *testing.T
	system *actor.ActorSystem
	vhost  *topology.VHost
	pid    *actor.PID
	asker  *probe

	mu        sync.Mutex
	queues    map[string]*probe // the newest probe of each name
	exchanges map[string]*probe
	specs     map[string]vhost.QueueSpec
	asked     uint64
}

// withFixture runs test in a bubble with a vhost in it.
func withFixture(t *testing.T, test func(h *fixture)) {
	t.Helper()
	withConfiguredFixture(t, func(*vhost.Config) {}, test)
}

// withConfiguredFixture is withFixture with a changed configuration.
func withConfiguredFixture(t *testing.T, change func(*vhost.Config), test func(h *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &fixture{
			t: t, vhost: topology.NewVHost("/"),
			queues: map[string]*probe{}, exchanges: map[string]*probe{}, specs: map[string]vhost.QueueSpec{},
		}
		h.system = actor.NewActorSystemWithConfig(actor.Configure(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
		resume := actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.ResumeDirective })
		h.asker = h.spawn("asker")
		registry := h.spawn("registry")
		root := h.system.Root.WithGuardian(resume)
		pid, err := root.SpawnNamed(actor.PropsFromProducer(func() actor.Actor {
			cfg := vhost.Config{
				VHost: h.vhost, NewQueue: h.newQueue, NewExchange: h.newExchange, Registry: registry.pid, Log: zerolog.Nop(),
				SystemExchanges: []mail.DeclareExchange{{Name: "candlemark.admin", Type: "direct", Durable: true}},
			}
			change(&cfg)
			return vhost.New(cfg)
		}), "vhost/%2f")
		if err != nil {
			t.Fatal(err)
		}
		h.pid = pid
		synctest.Wait()
		if started := take[*mail.VHostStarted](h, registry); started.Name != "/" || !mail.Same(started.PID, h.pid) {
			t.Errorf("VHostStarted %v", started)
		}
		defer h.shutdown(registry)
		test(h)
	})
}

func (h *fixture) shutdown(registry *probe) {
	for _, pid := range []*actor.PID{h.pid, h.asker.pid, registry.pid} {
		_ = h.system.Root.StopFuture(pid).Wait()
	}
	h.system.Shutdown()
	time.Sleep(h.system.Config.DeadLetterThrottleInterval) // the library's own goroutine ends after that
}

func (h *fixture) spawn(name string) *probe {
	p := &probe{}
	pid, err := h.system.Root.SpawnNamed(actor.PropsFromProducer(func() actor.Actor { return p }), name)
	if err != nil {
		h.t.Fatal(err)
	}
	p.pid = pid
	return p
}

func (h *fixture) newQueue(spec vhost.QueueSpec) *actor.Props {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &probe{}
	h.queues[spec.Queue.Name] = p
	h.specs[spec.Queue.Name] = spec
	return actor.PropsFromProducer(func() actor.Actor { return p })
}

// newExchange makes a probe that answers like an exchange without bindings.
func (h *fixture) newExchange(spec vhost.ExchangeSpec) *actor.Props {
	p := &probe{answer: agreeable}
	h.mu.Lock()
	h.exchanges[spec.Exchange.Name] = p
	h.mu.Unlock()
	return actor.PropsFromProducer(func() actor.Actor { return p })
}

func agreeable(ctx actor.Context, m any) {
	switch m := m.(type) {
	case *mail.AddBinding:
		actorlib.Send(ctx, m.ReplyTo, &mail.TopologyReply{Reply: m.Done(nil)})
	case *mail.ForgetDestination:
		actorlib.Send(ctx, m.ReplyTo, &mail.ForgetDestinationReply{Reply: m.Done(nil)})
	case *mail.ConfigureExchange:
		actorlib.Send(ctx, m.ReplyTo, &mail.ConfigureExchangeReply{Reply: m.Done(nil)})
	case *mail.RetireExchange:
		actorlib.Send(ctx, m.ReplyTo, &mail.RetireExchangeReply{Reply: m.Done(nil)})
		ctx.Stop(ctx.Self())
	}
}

// hold replaces the automatic answers of an exchange; with nil it answers nothing.
func (h *fixture) hold(x *probe, answer func(actor.Context, any)) {
	x.mu.Lock()
	x.answer = answer
	x.mu.Unlock()
}

func (h *fixture) queue(name string) *probe    { return h.made(h.queues, name) }
func (h *fixture) exchange(name string) *probe { return h.made(h.exchanges, name) }

func (h *fixture) made(in map[string]*probe, name string) *probe {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if in[name] == nil {
		h.t.Fatalf("%q was not made", name)
	}
	return in[name]
}

// send sends mails to the vhost and waits until all actors are idle.
func (h *fixture) send(mails ...any) {
	for _, m := range mails {
		h.system.Root.Send(h.pid, m)
	}
	synctest.Wait()
}

// ask returns a new request of the asker.
func (h *fixture) ask() mail.Request {
	h.asked++
	return mail.Request{ReplyTo: h.asker.pid, ID: h.asked}
}

// declare makes a queue and drops the forwarded command.
func (h *fixture) declare(name string) *probe {
	h.t.Helper()
	h.send(&mail.DeclareQueue{Request: h.ask(), Name: name, VHost: "/"})
	q := h.queue(name)
	take[*mail.DeclareQueue](h, q)
	return q
}

// declareExchange makes a direct exchange.
func (h *fixture) declareExchange(name string, autoDelete bool) *probe {
	h.t.Helper()
	h.send(&mail.DeclareExchange{Request: h.ask(), Name: name, Type: "direct", AutoDelete: autoDelete})
	h.wantTopology(0, "")
	return h.exchange(name)
}

// bind binds a queue or exchange to an exchange and drops the forwarded command and the answer.
func (h *fixture) bind(source, to string, toExchange bool) {
	h.t.Helper()
	h.send(&mail.Bind{Request: h.ask(), Source: source, Binding: topology.Binding{Destination: to, ToExchange: toExchange}})
	take[*mail.AddBinding](h, h.exchange(source))
	h.wantTopology(0, "")
}

// take removes the oldest mail of a probe, which must be a T.
func take[T any](h *fixture, p *probe) T {
	h.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var none T
	if len(p.mails) == 0 {
		h.t.Fatalf("no mail, want %T", none)
	}
	m, ok := p.mails[0].(T)
	if !ok {
		h.t.Fatalf("%T %v, want %T", p.mails[0], p.mails[0], none)
	}
	p.mails = p.mails[1:]
	return m
}

func (h *fixture) nothing(p *probe) {
	h.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mails) > 0 {
		h.t.Fatalf("unexpected %T %v", p.mails[0], p.mails[0])
	}
}

// wantTopology takes a TopologyReply from the asker; text "" means success.
func (h *fixture) wantTopology(code uint16, text string) {
	h.t.Helper()
	h.wantError(take[*mail.TopologyReply](h, h.asker).Err, code, text)
}

func (h *fixture) wantError(err error, code uint16, text string) {
	h.t.Helper()
	switch e := err.(type) {
	case nil:
		if code != 0 {
			h.t.Errorf("no error, want %d %s", code, text)
		}
	case *protocol.ChannelError:
		if e.Code != code || e.Text != text {
			h.t.Errorf("got %d %s\nwant %d %s", e.Code, e.Text, code, text)
		}
	case *protocol.ConnectionError:
		if e.Code != code || e.Text != text {
			h.t.Errorf("got connection error %d %s\nwant %d %s", e.Code, e.Text, code, text)
		}
	default:
		h.t.Errorf("unexpected error %v", err)
	}
}

func (h *fixture) published(name string) *topology.Queue {
	return h.vhost.Directory().Queue([]byte(name))
}

func (h *fixture) publishedExchange(name string) *topology.Exchange {
	return h.vhost.Directory().Exchange([]byte(name))
}

// retire sends the farewell of the newest queue of that name.
func (h *fixture) retire(name string, handled uint64, deleted bool) {
	h.t.Helper()
	h.mu.Lock()
	q := h.specs[name].Queue
	h.mu.Unlock()
	h.send(&mail.QueueRetiring{Name: name, Incarnation: q.Incarnation, Queue: q.PID, Handled: handled, Deleted: deleted})
}

func policySet(t *testing.T, name, pattern, definition string, onto *policies.Policies) *policies.Policies {
	t.Helper()
	p, err := policies.Parse("/", name, false, []byte(`{"pattern":"`+pattern+`","definition":`+definition+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return onto.With(p)
}

func exchangeNames(d *topology.Directory) (names []string) {
	for x := range d.Exchanges() {
		names = append(names, x.Name+":"+x.Type)
	}
	return slices.Clip(names)
}
