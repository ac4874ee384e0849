package vhost

import (
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/events"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a virtual host.
type Config struct {
	VHost *topology.VHost
	// NewQueue and NewExchange return the props of a child that is made next.
	NewQueue    func(QueueSpec) *actor.Props
	NewExchange func(ExchangeSpec) *actor.Props
	// SystemExchanges are made at the start besides amq.*; like those they
	// cannot be deleted. Clients can neither bind to nor from them, nor make a
	// queue of such a name, and what is stored of that is not brought back.
	SystemExchanges []mail.DeclareExchange
	// Further are exchanges that are made at the start besides amq.*, for clients to use.
	Further []mail.DeclareExchange
	// MaxQueues is how many queues there may be at the moment; nil for any
	// number.
	MaxQueues func() (limit int64, limited bool)
	// Registry is told VHostStarted, nil for nobody.
	Registry *actor.PID
	// Incarnation gives out the number of a queue, once in the life of a data
	// folder; nil counts from 1.
	Incarnation func() uint64
	// Meta keeps what is durable; nil for a virtual host that keeps nothing.
	Meta definitions.Store
	// Stored has its durable definitions; nil for a new one.
	Stored *Stored
	// Messages reads what the journal has of a queue and calls done, from any
	// goroutine: what it had when it was opened or, again, what it has now (Take
	// and Recall of store.Journal). Nil for no journal: a queue that panics ends.
	Messages func(of store.QueueID, again bool, done func([]store.Recovered, error))
	// Retire drops what the journal still has of a deleted queue, whose actor has
	// ended, and lets the definitions forget that there was one.
	Retire func(of store.QueueID)
	// NewDown makes the props of what stands in for a queue that is down.
	NewDown func() *actor.Props
	// Close closes the actor's mailbox and returns what is left in it.
	Close func() []any
	// Events is told of queues and exchanges; nil for nobody.
	Events *events.Hub
	// Log carries the name of the virtual host.
	Log zerolog.Logger
}

// QueueSpec describes a queue to be made. Queue.PID is filled in after the actor
// was spawned: the queue uses its own Self.
type QueueSpec struct {
	Queue     *topology.Queue
	VHost     *topology.VHost
	Effective policies.Effective
	Settings  policies.QueueSettings
	// Messages are those that it begins with. Asleep: it waits for mail.Wake.
	// Revived: it comes back after a panic.
	Messages        []store.Recovered
	Asleep, Revived bool
	// Newest is at least as high as the number of any message that it has had since the
	// broker started.
	Newest uint64
}

// ExchangeSpec describes an exchange to be made. Exchange.PID is filled in after
// the actor was spawned.
type ExchangeSpec struct {
	Exchange *topology.Exchange
	VHost    *topology.VHost
	Settings policies.ExchangeSettings
}

// props is how the core knows what makes a child. It is called right before that.
type props = func() *actor.Props

func propsOf[Spec any](make func(Spec) *actor.Props, spec Spec) props {
	return func() *actor.Props { return make(spec) }
}

// vhost is the shell: the core decides, then what it decided is carried out.
type vhost struct{ core *state }

// New makes the actor.
func New(cfg Config) actor.Actor { return &vhost{newState(cfg)} }

// Receive handles one mail, and with it perhaps commands that were parked. A
// panic costs the one command, which is answered; the supervisor learns of it
// when the turn is done.
func (v *vhost) Receive(ctx actor.Context) {
	s, what := v.core, ctx.Message()
	s.now = time.Now()
	switch m := what.(type) {
	case *actor.Started:
		s.handle(begin{ctx.Self()})
	case *actor.Stopping:
		s.stopping = true
	case *actor.Terminated: // it overtakes mail (PRO-1)
		if !s.stopping {
			ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
		}
	default:
		s.handle(what)
	}
	v.carryOut(ctx, what)
	if reason := s.failure; reason != nil {
		s.failure = nil
		panic(reason)
	}
}

// carryOut does what the core has decided over a mail. The state has changed by
// then: what panics is tried once more, behind the answer that says so, and a child
// that cannot be started has died.
func (v *vhost) carryOut(ctx actor.Context, what any) {
	if _, farewell := what.(*mail.QueueRetiring); farewell {
		what = nil // the queue is forgotten by now, or kept: another answer would contradict
	}
	for _, e := range v.core.out.take() {
		if v.try(ctx, e, what) {
			continue
		}
		v.carryOut(ctx, nil)
		if s, spawns := e.(spawning); !v.try(ctx, e, nil) && spawns {
			ctx.Send(ctx.Self(), &mail.PeerGone{Who: *s.pid})
		}
	}
}

func (v *vhost) try(ctx actor.Context, effect, what any) (done bool) {
	defer v.core.guard(what)
	cfg, self, root := &v.core.cfg, ctx.Self(), ctx.ActorSystem().Root
	switch e := effect.(type) {
	case post:
		ctx.Send(e.to, e.what)
	case func():
		e()
	case spawning:
		pid, err := ctx.SpawnNamed(e.props(), e.name)
		if err != nil {
			panic(err)
		}
		*e.pid = pid
		v.core.children.rename(pid)
	case watching:
		ctx.Watch(e.who)
	case unwatching:
		mail.Unwatch(ctx, e.who)
	case stopping:
		ctx.Stop(e.who)
	case storing:
		cfg.Meta.Apply(e.change, func(_ uint64, err error) { root.Send(self, &stored{e.then, err, e.command}) })
	case fetching:
		cfg.Messages(store.QueueID(e.queue.queue.Incarnation), e.again, func(list []store.Recovered, err error) {
			root.Send(self, &fetched{e.queue, list, err})
		})
	case leaving:
		if cfg.Close != nil {
			mail.AnswerAll(ctx, cfg.Close(), mail.Gone)
		}
		ctx.Stop(self)
	}
	return true
}
