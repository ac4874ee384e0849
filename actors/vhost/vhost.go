package vhost

import (
	"runtime/debug"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a virtual host.
type Config struct {
	VHost *topology.VHost
	// NewQueue and NewExchange make the props of a child.
	NewQueue    func(QueueSpec) *actor.Props
	NewExchange func(ExchangeSpec) *actor.Props
	// SystemExchanges are made at the start besides amq.*; like those they
	// cannot be deleted. Clients can neither bind to nor from them, nor make a
	// queue of such a name, and what is stored of that is not brought back.
	SystemExchanges []mail.DeclareExchange
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

// vhost is the actor.
type vhost struct {
	cfg       Config
	ctx       actor.Context       // of the turn
	directory *topology.Directory // the published one
	queues    map[string]*queue
	exchanges map[string]*exchange
	children  map[string]any // *queue or *exchange by the id of its PID
	owners    map[string]*owner
	leaving   map[string]store.QueueID // deleted durable queues that have not ended, by the id of the PID
	// incarnation is the last one given out, without Config.Incarnation. One
	// counter serves all names, so that a name that is gone leaves no trace.
	incarnation uint64
	questions   map[uint64]pendingRequest
	asked       uint64        // number of the last question
	policies    *policies.Set // the newest
	sweep       sweep
	recovery    *recovery      // nil unless it is recovering
	failure     any            // what a command panicked with in this turn
	ending      *mail.EndVHost // nil while it lives
	deleted     bool           // when it ends: no queue is left
	stopping    bool           // children end because this actor does
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	return &vhost{
		cfg: cfg, directory: &topology.Directory{},
		queues: map[string]*queue{}, exchanges: map[string]*exchange{}, children: map[string]any{},
		owners: map[string]*owner{}, leaving: map[string]store.QueueID{}, questions: map[uint64]pendingRequest{}, policies: policies.NewSet(cfg.VHost.Name),
	}
}

// Receive handles one mail, and with it perhaps commands that were parked. A
// panic costs the one command, which is answered; the supervisor learns of it
// when the turn is done.
func (v *vhost) Receive(ctx actor.Context) {
	v.ctx = ctx
	v.handle(ctx.Message())
	if reason := v.failure; reason != nil {
		v.failure = nil
		panic(reason)
	}
}

func (v *vhost) handle(what any) {
	defer v.guard(what)
	if v.ending != nil && v.refuse(what) || v.recovery != nil && v.wait(what) {
		return
	}
	switch m := what.(type) {
	case *mail.DeclareQueue:
		v.declareQueue(m)
	case *mail.DeleteQueue:
		v.deleteQueue(m)
	case *mail.AwaitQueue:
		v.awaitQueue(m)
	case *mail.DeclareExchange:
		v.declareExchange(m)
	case *mail.DeleteExchange:
		v.deleteExchange(m)
	case *mail.Bind:
		v.bind(m)
	case *mail.Unbind:
		v.unbind(m)
	case *mail.ReleaseConnection:
		v.releaseConnection(m)
	case *mail.ApplyPolicies:
		v.applyPolicies(m)
		v.bringBack()
	case *mail.EndVHost:
		v.deleteAll(m)
	case sweepOn:
		v.sweepOn()
	case *stored:
		m.then(m.err)
	case *fetched:
		v.fetched(m)
	default:
		v.event(what)
	}
}

// event handles mail of children and of the actor system.
func (v *vhost) event(what any) {
	switch m := what.(type) {
	case *mail.QueueRetiring:
		v.queueRetiring(m)
	case *mail.QueueCrashed:
		v.queueCrashed(m)
	case *mail.QueueDeleteRefused:
		v.queueDeleteRefused(m)
	case *mail.ExchangeUnused:
		v.exchangeUnused(m)
	case *mail.BindingsForgotten:
		v.answered(m.Reply, m.Unused)
	case *mail.ExchangeDeleteReply:
		v.answered(m.Reply, false)
	case *mail.ExchangeConfigured:
		v.answered(m.Reply, false)
	case *mail.TopologyReply:
		v.answered(m.Reply, false)
	case *mail.QueueAwake:
		v.answered(m.Reply, false)
	case *mail.DeclareQueueReply:
		v.answered(m.Reply, false)
	case *mail.DeleteQueueReply:
		v.holderDropped(m)
	case *actor.Started:
		v.start()
	case *actor.Stopping:
		v.stopping = true
	case *actor.Terminated: // it overtakes mail (PRO-1)
		if !v.stopping {
			v.ctx.Send(v.ctx.Self(), &mail.PeerGone{Who: m.Who})
		}
	case *mail.PeerGone:
		v.peerGone(m.Who)
	}
}

// guard answers a command that panicked, and goes on: commands parked behind it
// have not failed.
func (v *vhost) guard(what any) {
	reason := recover()
	if reason == nil {
		return
	}
	v.cfg.Log.Error().Type("mail", what).Interface("reason", reason).
		Bytes("stack", debug.Stack()).Msg("the virtual host panicked over a mail")
	mail.AnswerAll(v.ctx, []any{what}, mail.Failed)
	v.broken()
	if v.failure == nil {
		v.failure = reason
	}
}

// start makes what nobody declares. What was stored comes when the policies are
// there.
func (v *vhost) start() {
	v.makeExchanges()
	if v.cfg.Stored != nil {
		v.recovery = &recovery{Stored: *v.cfg.Stored}
		v.cfg.Stored = nil
	}
	if v.cfg.Registry == nil {
		v.bringBack()
		return
	}
	v.ctx.Send(v.cfg.Registry, &mail.VHostStarted{Name: v.cfg.VHost.Name, PID: v.ctx.Self()})
}

// peerGone concludes from the death of a child or of the owner of exclusive
// queues. Those that ended in order are no longer known.
func (v *vhost) peerGone(who *actor.PID) {
	switch c := v.children[who.Id].(type) {
	case *queue:
		v.queueDied(c)
	case *exchange:
		v.exchangeDied(c)
	}
	if id, is := v.leaving[who.Id]; is {
		delete(v.leaving, who.Id)
		v.retireMessages(id)
	}
	if o := v.owners[who.Id]; o != nil {
		v.releaseOwner(o, nil)
	}
	v.leave()
}

func (v *vhost) publish(d *topology.Directory) {
	v.directory = d
	v.cfg.VHost.Publish(d)
}

// reply sends an answer to whoever asked; nobody may have.
func (v *vhost) reply(r mail.Request, answer any) {
	if r.ReplyTo != nil {
		v.ctx.Send(r.ReplyTo, answer)
	}
}

// done answers with TopologyReply.
func (v *vhost) done(r mail.Request, err error) {
	v.reply(r, &mail.TopologyReply{Reply: r.Done(err)})
}
