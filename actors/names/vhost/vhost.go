package vhost

import (
	"time"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a virtual host.
type Config struct {
	VHost *topology.VHost
	// NewQueue and NewExchange return the props of a child, which is then spawned.
	NewQueue    func(QueueSpec) *actor.Props
	NewExchange func(ExchangeSpec) *actor.Props
	// SystemExchanges are created at the start besides amq.*, and cannot be deleted either. Clients can neither bind
	// to nor from them, nor create a queue of such a name; stored objects of that kind are not restored.
	SystemExchanges []mail.DeclareExchange
	// Further are additional exchanges for clients, created at the start.
	Further []mail.DeclareExchange
	// MaxQueues returns the current limit of queues; nil for no limit.
	MaxQueues func() (limit int64, limited bool)
	// AllQueues and AllExchanges return the current limits for all virtual hosts, and whether they are reached; nil for
	// no limits.
	AllQueues, AllExchanges func() (limit int64, reached bool)
	// Objects limits the memory of queues, exchanges and bindings; nil for no limit.
	Objects *budget.Objects
	// Registry gets VHostStarted, nil for none.
	Registry mail.Address
	// Incarnation returns the number for a new queue, unique for the life of the data folder; nil counts from 1.
	Incarnation func() uint64
	// Meta stores durable definitions; nil for a virtual host without storage.
	Meta definitions.Store
	// Stored has the stored definitions; nil for a new virtual host.
	Stored *Stored
	// Messages reads a queue's messages in the journal, and calls done from any goroutine: the messages at the journal's
	// opening or, if again is set, the current ones (Take and Recall of store.Journal). Nil for no journal: a queue that
	// panics ends.
	Messages func(of store.QueueID, again bool, done func([]store.Recovered, error))
	// Empty reports that the journal had nothing of a queue when it was opened; nil if that is not known.
	Empty func(of store.QueueID) bool
	// Retire deletes the data in the journal of a deleted queue whose actor has ended, and its last record in the
	// definitions.
	Retire func(of store.QueueID)
	// NewDown returns the props of the placeholder for a queue that is down.
	NewDown func() *actor.Props
	// Close closes the actor's mailbox and returns the mail left in it.
	Close func() []any
	// Events receives events of queues and exchanges; nil for none.
	Events *events.Hub
	// Log has the name of the virtual host.
	Log zerolog.Logger
}

// QueueSpec describes a queue to be created. Queue.PID is set after the actor was spawned: the queue uses its own
// Self.
type QueueSpec struct {
	Queue     *topology.Queue
	VHost     *topology.VHost
	Effective policies.Effective
	Settings  policies.QueueSettings
	// Messages are its initial messages. Recovering: it waits for mail.Activate. Revived: it restarts after a panic.
	Messages            []store.Recovered
	Recovering, Revived bool
	// Newest is at least the highest number of any of its messages since the broker started.
	Newest uint64
	// Notes pays for what the queue keeps besides its messages.
	Notes *budget.Holder
}

// ExchangeSpec describes an exchange to be created. Exchange.PID is set after the actor was spawned.
type ExchangeSpec struct {
	Exchange *topology.Exchange
	VHost    *topology.VHost
	Settings policies.ExchangeSettings
}

// props returns the props of a child. It is called right before the child is spawned.
type props = func() *actor.Props

func propsOf[Spec any](make func(Spec) *actor.Props, spec Spec) props {
	return func() *actor.Props { return make(spec) }
}

// vhost is the shell: the core decides, then the shell carries out the decisions.
type vhost struct{ core *state }

// New returns the actor.
func New(cfg Config) actor.Actor { return &vhost{newState(cfg)} }

// Receive handles one mail, and possibly commands that were parked. A panic fails one command only, which is answered;
// the supervisor is informed at the end of the turn.
func (v *vhost) Receive(ctx actor.Context) {
	s, received := v.core, ctx.Message()
	s.now = time.Now()
	switch m := received.(type) {
	case *actor.Started:
		s.handle(begin{ctx.Self(), actorlib.ChildOf})
	case *actor.Stopping:
		s.stopping = true
	case *actor.Terminated: // system mail, ahead of the peer's other mail (PRO-1)
		if !s.stopping {
			ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
		}
	default:
		s.handle(received)
	}
	v.carryOut(ctx, received)
	if reason := s.failure; reason != nil {
		s.failure = nil
		panic(reason)
	}
}

// carryOut carries out the effects of a mail. The state has changed by then, so an effect that panics is tried once
// more, after the answer that reports the panic, and a child that cannot be started counts as ended.
func (v *vhost) carryOut(ctx actor.Context, received any) {
	if _, farewell := received.(*mail.QueueRetiring); farewell {
		received = nil // the queue is already forgotten or kept: another answer would contradict that
	}
	for _, e := range v.core.out.take() {
		if v.try(ctx, e, received) {
			continue
		}
		v.carryOut(ctx, nil)
		if s, spawns := e.(spawning); !v.try(ctx, e, nil) && spawns {
			ctx.Send(ctx.Self(), &mail.PeerGone{Who: *s.pid})
		}
	}
}

func (v *vhost) try(ctx actor.Context, effect, received any) (done bool) {
	defer v.core.guard(received)
	cfg, self, root := &v.core.cfg, ctx.Self(), ctx.ActorSystem().Root
	switch e := effect.(type) {
	case mail.Post:
		actorlib.Send(ctx, e.To, e.Mail)
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
		actorlib.Watch(ctx, e.who)
	case unwatching:
		actorlib.Unwatch(ctx, e.who)
	case stopping:
		ctx.Stop(actorlib.PID(e.who))
	case storing:
		cfg.Meta.Apply(e.change, func(_ uint64, err error) { root.Send(self, &stored{e.then, err, e.command}) })
	case fetching:
		cfg.Messages(store.QueueID(e.queue.queue.Incarnation), e.again, func(list []store.Recovered, err error) {
			root.Send(self, &fetched{e.queue, list, err})
		})
	case leaving:
		if cfg.Close != nil {
			actorlib.AnswerAll(ctx, cfg.Close(), mail.Gone)
		}
		ctx.Stop(self)
	}
	return true
}
