package republish_test

import (
	"bytes"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/movers/republish"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probe plays a queue and records its mail.
type probe struct {
	queue *topology.Queue
	mu    sync.Mutex
	mails []any
}

func (p *probe) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started, *actor.Stopping, *actor.Stopped:
	default:
		p.mu.Lock()
		p.mails = append(p.mails, m)
		p.mu.Unlock()
	}
}

// waiting returns how many mails have not been taken.
func (p *probe) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mails)
}

// fixture is one dead-letter actor with queues and exchanges, in a bubble.
type fixture struct {
	t      *testing.T
	root   *actor.RootContext
	vhost  *topology.VHost
	pid    *actor.PID
	stats  *republish.Stats
	log    bytes.Buffer
	held   budget.Budget
	price  *budget.Copies // without a limit, see scarce
	probes []*probe
}

// withFixture runs test with a dead-letter actor.
func withFixture(t *testing.T, test func(h *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		system := actor.NewActorSystemWithConfig(actor.Configure(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
		h := &fixture{t: t, root: system.Root, vhost: topology.NewVHost("/"), stats: &republish.Stats{}}
		h.price = budget.NewCopies(&h.held, budget.NewValve(&h.held))
		strategy := actor.NewOneForOneStrategy(10, time.Minute, actor.DefaultDecider)
		h.pid = system.Root.WithGuardian(strategy).Spawn(h.props())
		h.vhost.Publish(h.vhost.Directory().WithExchange(&topology.Exchange{Type: "direct"}))
		defer func() {
			_ = h.root.StopFuture(h.pid).Wait()
			for _, p := range h.probes {
				_ = h.root.StopFuture(actorlib.PID(p.queue.PID)).Wait()
			}
			system.Shutdown()
			time.Sleep(system.Config.DeadLetterThrottleInterval) // the library's own goroutine ends after that
		}()
		test(h)
	})
}

// props make a dead-letter actor.
func (h *fixture) props() *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor {
		return republish.New(republish.Config{VHost: h.vhost, Stats: h.stats, Log: zerolog.New(&h.log), Clock: clock.New(), Copies: h.price})
	})
}

// scarce makes memory scarce, and uses up the copies that may be made at once; false ends that.
func (h *fixture) scarce(is bool) {
	if !is {
		h.price.SetMax(0)
		return
	}
	h.held.Count(1)
	for h.price.SetMax(1); h.price.Ask(1); {
		h.held.Count(1)
	}
}

func (h *fixture) queue(name string) *probe {
	p := &probe{queue: &topology.Queue{Name: name}}
	p.queue.PID = h.root.Spawn(actor.PropsFromProducer(func() actor.Actor { return p }))
	h.probes = append(h.probes, p)
	h.vhost.Publish(h.vhost.Directory().WithQueue(p.queue))
	return p
}

// exchange makes an exchange with a binding to each queue, all with this key.
func (h *fixture) exchange(x *topology.Exchange, alternate, key string, queues ...*probe) {
	r, _ := topology.NewRoutes(x.Type, nil)
	for _, q := range queues {
		r, _ = r.With(topology.Binding{Destination: q.queue.Name, RoutingKey: key}, topology.Target{Queue: q.queue})
	}
	x.Publish(r.WithAlternate(alternate))
	h.vhost.Publish(h.vhost.Directory().WithExchange(x))
}

func (h *fixture) send(mails ...any) {
	for _, m := range mails {
		h.root.Send(h.pid, m)
	}
	synctest.Wait()
}

// pendingMessage returns a DeadLetter of queue from with n messages, numbered from first.
func pendingMessage(from *probe, reason, exchange string, first uint64, n int) *mail.DeadLetter {
	d := &mail.DeadLetter{From: from.queue.PID, Queue: from.queue.Name, Incarnation: 3, Reason: reason, Exchange: exchange, Time: 1000}
	for i := range uint64(n) {
		d.Messages = append(d.Messages, message.Message{
			Number: first + i, Exchange: []byte("orig"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: []byte{byte(first + i)}, TTL: message.NoTTL, Owned: true,
		})
	}
	return d
}

// expiring makes a message persistent, with an expiration in ms.
func expiring(m *message.Message, ms string) {
	p := protocol.Properties{Flags: protocol.FlagExpiration | protocol.FlagDeliveryMode, Expiration: ms, DeliveryMode: 2}
	m.Header = p.Append(nil)
	m.TTL, _ = strconv.ParseInt(ms, 10, 64)
}

func take[T any](h *fixture, p *probe) T {
	h.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var none T
	if len(p.mails) == 0 {
		h.t.Fatalf("%s has no mail, want %T", p.queue.Name, none)
	}
	m, ok := p.mails[0].(T)
	if !ok {
		h.t.Fatalf("%s has %T %v, want %T", p.queue.Name, p.mails[0], p.mails[0], none)
	}
	p.mails = p.mails[1:]
	return m
}

func (h *fixture) nothing(p *probe) {
	h.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mails) > 0 {
		h.t.Fatalf("%s has unexpected %T %v", p.queue.Name, p.mails[0], p.mails[0])
	}
}

// answer confirms or refuses all messages of e.
func (h *fixture) answer(e *mail.Enqueue, refused bool) {
	r := &mail.EnqueueReply{Refused: refused}
	for i := range e.Messages {
		r.Add(e.Messages[i].Number)
	}
	h.send(r)
}

// settled takes the next reply from p, which must be for these IDs.
func (h *fixture) settled(p *probe, want ...mail.Range) {
	h.t.Helper()
	r := take[*mail.DeadLetterReply](h, p)
	if len(r.IDs) != len(want) || r.Lost || r.Incarnation != 3 {
		h.t.Fatalf("%+v, want %v", r, want)
	}
	for i := range want {
		if r.IDs[i] != want[i] {
			h.t.Fatalf("%+v, want %v", r, want)
		}
	}
}

func headerOf(t *testing.T, m *message.Message) protocol.Table {
	t.Helper()
	raw, err := m.Overlay.Header(m.Header)
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.DecodeProperties(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p.Headers
}
