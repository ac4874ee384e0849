package policy

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/policies/changes"

	"candlemark/actors/system/actorlib"
	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures the registry.
type Config struct {
	// Limits are the maximum numbers of policies in all virtual hosts: "policy" of user, "operator_policy" of operator
	// policies.
	Limits map[string]int
	// Objects has the price of policies; nil for no limit.
	Objects *budget.Objects
	// Meta stores policies; nil for a registry without storage.
	Meta definitions.Store
	// Stored are the initial policies, History their stored changes.
	Stored  []*policies.Policy
	History []*changes.Change
	// Now returns wall-clock time, in ms; nil means always 0.
	Now func() int64
	Log zerolog.Logger
	// Events receives events of changes; nil for none.
	Events *events.Hub
}

// registry is the actor.
type registry struct {
	cfg     Config
	state   state
	serving *command // the current command
}

// stored: a change is durable, or was refused; its command has the outcome.
type stored struct{ again bool }

// New returns the actor.
func New(cfg Config) actor.Actor {
	return &registry{cfg: cfg, state: newState(cfg.Limits, cfg.Objects, cfg.Stored, cfg.History)}
}

// Receive handles one mail: the core decides, then the outcome is carried out.
func (r *registry) Receive(ctx actor.Context) {
	defer r.answerPanic(ctx)
	s := &r.state
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
	case *mail.SetPolicy, *mail.SetPolicies, *mail.ClearPolicy, *mail.UndoPolicyChange, *mail.ForgetVHost, *mail.ListPolicies, *mail.DescribePolicies:
		s.accept(m.(mail.Answerable))
	case *mail.VHostStarted:
		actorlib.Watch(ctx, m.PID)
		s.started(m.Name, m.PID)
	case *mail.ApplyPoliciesReply:
		s.applied(m.ID)
	case *actor.Stopping, *actor.Restarting:
		s.release()
	case *actor.Terminated: // system mail, ahead of the peer's other mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	case *mail.PeerGone:
		s.gone(m.Who)
	}
	r.serveAll(ctx)
	r.carryOut(ctx)
}

// begin starts storing a command's change. Mail arrives when the change is stored.
func (r *registry) begin(ctx actor.Context, c *command) {
	at := int64(0)
	if r.cfg.Now != nil {
		at = r.cfg.Now()
	}
	change, err := r.state.begin(c, at)
	if err != nil || r.cfg.Meta == nil || len(change.Put)+len(change.Delete) == 0 {
		c.outcome.Store(&outcome{err: err})
		return
	}
	self, root := ctx.Self(), ctx.ActorSystem().Root
	r.cfg.Meta.Apply(change, func(revision uint64, err error) {
		c.outcome.Store(&outcome{revision, err})
		root.Send(self, &stored{})
	})
}

// serveAll makes the commands whose changes are stored effective.
func (r *registry) serveAll(ctx actor.Context) {
	s := &r.state
	for r.serving = s.first(); r.serving != nil; r.serving = s.first() {
		if !r.serving.begun {
			r.begin(ctx, r.serving)
		}
		o := r.serving.outcome.Load()
		if o == nil {
			break
		}
		s.drop(r.serving)
		r.serve(r.serving, *o)
	}
	r.serving = nil
}

func (r *registry) serve(c *command, o outcome) {
	s := &r.state
	switch m := c.mail.(type) {
	case *mail.SetPolicy:
		r.changed(c, o, m.Request, s.known(c.vhost).Lookup(m.Policy.Operator, m.Policy.Name) != nil)
	case *mail.SetPolicies:
		r.changed(c, o, m.Request, false)
	case *mail.ClearPolicy:
		r.changed(c, o, m.Request, s.known(c.vhost).Lookup(m.Operator, m.Name) != nil)
	case *mail.UndoPolicyChange:
		r.changed(c, o, m.Request, true)
	case *mail.ForgetVHost:
		s.forgetVHost(m, o)
	case *mail.ListPolicies:
		s.list(m)
	case *mail.DescribePolicies:
		s.out.Send(m.ReplyTo, &mail.PoliciesInfo{Reply: m.Done(nil), Set: s.known(m.VHost), History: s.history(m.VHost)})
	}
}

// changed brings a change into force and publishes events, or answers with its error. found: there was a policy of that
// name.
func (r *registry) changed(c *command, o outcome, asked mail.Request, found bool) {
	if o.err != nil {
		if len(c.edits) > 0 { // otherwise the change was refused
			r.failed(c, o.err)
		}
		r.state.refuse(asked, o.err)
		return
	}
	r.publishEvents(c.edits, asked.By)
	r.state.carryOut(c, asked, found, o.revision)
}

// carryOut sends the mail of the turn, in order. Mail left by a panic is sent in a later turn.
func (r *registry) carryOut(ctx actor.Context) {
	s := &r.state
	for ; len(s.out) > 0; s.out = s.out[1:] {
		actorlib.Send(ctx, s.out[0].To, s.out[0].Mail)
	}
	s.out = nil
}

// answerPanic does the same as actorlib.AnswerPanic for mail that makes several commands effective: the command that
// failed is answered in this turn, and the rest continue in a later one.
func (r *registry) answerPanic(ctx actor.Context) {
	reason := recover()
	if reason == nil {
		return
	}
	m, later := ctx.Message().(*stored)
	goesOn := !later || !m.again // a turn requested only for this is tried once
	switch {
	case r.serving != nil:
		goesOn = true
		r.state.out.Send(r.serving.mail.Answer(mail.Failed))
		r.state.drop(r.serving)
		r.serving = nil
	case len(r.state.out) == 0:
		actorlib.AnswerAll(ctx, []any{ctx.Message()}, mail.Failed)
	}
	if goesOn {
		ctx.Send(ctx.Self(), &stored{again: true})
	}
	panic(reason)
}

// failed logs a change that could not be stored.
func (r *registry) failed(c *command, err error) {
	line := r.cfg.Log.Error().Err(err).Str("vhost", c.vhost)
	if len(c.edits) > 1 {
		line.Int("count", len(c.edits)).Msg("policies could not be stored")
		return
	}
	p := c.edits[0].Policy()
	if line = line.Str("policy", p.Name).Bool("operator", p.Operator); c.edits[0].After == nil {
		line.Msg("policy could not be deleted")
		return
	}
	line.Stringer("definition", p.Definition).Msg("policy could not be stored")
}
