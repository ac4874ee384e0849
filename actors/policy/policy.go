package policy

import (
	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/events"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures the registry.
type Config struct {
	// Meta stores policies; nil for a registry that keeps nothing.
	Meta definitions.Store
	// Stored are those that it begins with.
	Stored []*policies.Policy
	Log    zerolog.Logger
	// Events is told of changes; nil for nobody.
	Events *events.Hub
}

// registry is the actor.
type registry struct {
	cfg     Config
	state   state
	serving *command // the one in hand
}

// stored: some change is durable, or was refused; its command knows.
type stored struct{ again bool }

// New makes the actor.
func New(cfg Config) actor.Actor {
	return &registry{cfg: cfg, state: newState(cfg.Stored)}
}

// Receive handles one mail: the core decides, then the outcome is carried out.
func (r *registry) Receive(ctx actor.Context) {
	defer r.answerPanic(ctx)
	s := &r.state
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
	case *mail.SetPolicy, *mail.SetPolicies, *mail.ClearPolicy, *mail.ForgetVHost, *mail.ListPolicies, *mail.DescribePolicies:
		r.accept(ctx, m.(mail.Answerable))
	case *mail.VHostStarted:
		ctx.Watch(m.PID)
		s.started(m.Name, m.PID)
	case *mail.ApplyPoliciesReply:
		s.applied(m.ID)
	case *actor.Terminated: // it overtakes mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	case *mail.PeerGone:
		s.gone(m.Who)
	}
	r.serveAll()
	r.carryOut(ctx)
}

// accept takes a command in and has its change stored. Nobody waits for that: a
// mail comes when it is done.
func (r *registry) accept(ctx actor.Context, what mail.Answerable) {
	c, store := r.state.accept(what)
	switch {
	case !store:
	case r.cfg.Meta == nil:
		c.outcome.Store(&outcome{})
	default:
		self, root := ctx.Self(), ctx.ActorSystem().Root
		r.cfg.Meta.Apply(c.change, func(revision uint64, err error) {
			c.outcome.Store(&outcome{revision, err})
			root.Send(self, &stored{})
		})
	}
}

// serveAll has the commands take effect that can.
func (r *registry) serveAll() {
	for r.serving = r.state.next(); r.serving != nil; r.serving = r.state.next() {
		r.serve(r.serving.what, *r.serving.outcome.Load())
	}
}

func (r *registry) serve(what any, o outcome) {
	s := &r.state
	switch m := what.(type) {
	case *mail.SetPolicy:
		if o.err != nil {
			r.failed(o.err, m.Policy.VHost, m.Policy.Name, m.Policy.Operator).Stringer("definition", m.Policy.Definition).Msg("policy could not be stored")
			s.refuse(m.Request, o.err)
			return
		}
		r.tellSet(m.Policy, s.known(m.Policy.VHost).Lookup(m.Policy.Operator, m.Policy.Name), m.By)
		s.set(m, o.revision)
	case *mail.SetPolicies:
		if o.err != nil {
			r.cfg.Log.Error().Err(o.err).Str("vhost", m.VHost).Int("count", len(m.Policies)).Msg("policies could not be stored")
			s.refuse(m.Request, o.err)
			return
		}
		for _, p := range m.Policies {
			r.tellSet(p, s.known(m.VHost).Lookup(p.Operator, p.Name), m.By)
		}
		s.setAll(m, o.revision)
	case *mail.ClearPolicy:
		if o.err != nil {
			r.failed(o.err, m.VHost, m.Name, m.Operator).Msg("policy could not be deleted")
			s.refuse(m.Request, o.err)
			return
		}
		r.tellCleared(s.known(m.VHost).Lookup(m.Operator, m.Name), m.By)
		s.clear(m, o.revision)
	case *mail.ForgetVHost:
		s.forgetVHost(m, o)
	case *mail.ListPolicies:
		s.list(m)
	case *mail.DescribePolicies:
		s.send(m.ReplyTo, &mail.PoliciesInfo{Reply: m.Done(nil), Set: s.known(m.VHost)})
	}
}

// carryOut posts what the core decided, in order. What a panic leaves is posted
// in a later turn.
func (r *registry) carryOut(ctx actor.Context) {
	s := &r.state
	for ; len(s.out) > 0; s.out = s.out[1:] {
		ctx.Send(s.out[0].to, s.out[0].what)
	}
	s.out = nil
}

// answerPanic is mail.AnswerPanic for a mail with which other commands may take
// effect: the one in hand is answered, unless its answer is about to be posted,
// and the rest goes on in a later turn.
func (r *registry) answerPanic(ctx actor.Context) {
	reason := recover()
	if reason == nil {
		return
	}
	switch {
	case r.serving != nil:
		mail.AnswerAll(ctx, []any{r.serving.what}, mail.Failed)
		r.serving = nil
	case len(r.state.out) == 0:
		mail.AnswerAll(ctx, []any{ctx.Message()}, mail.Failed)
	}
	if m, ok := ctx.Message().(*stored); !ok || !m.again {
		ctx.Send(ctx.Self(), &stored{again: true})
	}
	panic(reason)
}

func (r *registry) failed(err error, vhost, name string, operator bool) *zerolog.Event {
	return r.cfg.Log.Error().Err(err).Str("vhost", vhost).Str("policy", name).Bool("operator", operator)
}
