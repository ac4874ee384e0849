package queries

import (
	"context"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/policies/changes"
	"candlemark/protocol"
	"candlemark/supervision/ask"
)

// ExplainPolicies implements management.PolicyEffects.
func (ps *Policies) ExplainPolicies(ctx context.Context, vhost, name string, exchange bool) (policies.Explanation, error) {
	o, err := ps.object(vhost, name, exchange)
	if err != nil {
		return policies.Explanation{}, err
	}
	known, err := ps.policies(ctx, vhost)
	if err != nil {
		return policies.Explanation{}, err
	}
	return known.Set.Explain(&o), nil
}

// PreviewPolicy implements management.PolicyEffects.
func (ps *Policies) PreviewPolicy(ctx context.Context, p *policies.Policy, clear bool) (preview *changes.Preview, found bool, err error) {
	leave, err := ps.previewing.take(ctx)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	known, err := ps.policies(ctx, p.VHost)
	if err != nil {
		return nil, false, err
	}
	v, ok := ps.cfg.VHosts.Find(p.VHost)
	if !ok {
		return nil, false, protocol.ChannelErrorf(protocol.NotFound, "vhost '%s' not found", p.VHost)
	}
	before := known.Set
	found, after := before.Lookup(p.Operator, p.Name) != nil, before.Without(p.Operator, p.Name)
	if !clear {
		after = before.With(p)
	}
	r := &previewer{preview: &changes.Preview{}, before: before, after: after, policy: p, reach: after}
	if clear {
		r.reach = before
	}
	if known := r.reach.Lookup(p.Operator, p.Name); known != nil {
		r.policy = known // the policy to clear is only a name
	}
	for q := range v.Directory().Queues() {
		if r.look(policies.QueueObject(q.Name, q.Arguments), q); ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
	}
	for x := range v.Directory().Exchanges() {
		if x.Name != "" {
			r.look(exchangeObject(x), nil)
		}
	}
	return r.preview, found, r.count(ctx, ps.cfg.Asker)
}

// previewer makes a preview.
type previewer struct {
	preview       *changes.Preview
	before, after *policies.Policies
	policy        *policies.Policy
	reach         *policies.Policies // the set in which the reach of the policy is counted
	questions     []question
}

// question is a request to a queue about its messages.
type question struct {
	queue    mail.Address
	settings policies.QueueSettings
	at       int // in Impacts, -1 for a queue that is not listed
}

// look adds the impact on one object; the queue is nil for an exchange.
func (r *previewer) look(o policies.Object, q *topology.Queue) {
	r.preview.Objects++
	impact, hit := changes.Of(r.before, r.after, &o)
	effective := impact.After
	if r.reach == r.before {
		effective = impact.Before
	}
	r.preview.Reach.Add(r.policy, &o, effective)
	if !hit {
		return
	}
	at := r.preview.Add(impact)
	if q == nil {
		return
	}
	before, after := policies.SettingsFor(o.Arguments, impact.Before), policies.SettingsFor(o.Arguments, impact.After)
	if after.Retimes(&before) || after.Drops(&before) {
		r.questions = append(r.questions, question{q.PID, after, at})
	}
}

// count asks the affected queues about their messages.
func (r *previewer) count(ctx context.Context, a *ask.Asker) error {
	p := r.preview
	p.Asked, p.Unanswered = len(r.questions), len(r.questions)
	return a.All(ctx, len(r.questions), func(i int, asked mail.Request) {
		a.Post(r.questions[i].queue, &mail.PreviewSettings{Request: asked, Settings: r.questions[i].settings})
	}, func(answer any) {
		m := answer.(*mail.SettingsPreview)
		if m.Err != nil {
			return
		}
		p.Unanswered--
		p.Messages.Add(m.Messages)
		if at := r.questions[m.ID].at; at >= 0 {
			p.Impacts[at].Messages = m.Messages
		}
	})
}

// PolicyHistory implements management.PolicyEffects.
func (ps *Policies) PolicyHistory(ctx context.Context, vhost string) (changes.Log, error) {
	known, err := ps.policies(ctx, vhost)
	if err != nil {
		return nil, err
	}
	return known.History, nil
}

// UndoPolicyChange implements management.PolicyEffects.
func (ps *Policies) UndoPolicyChange(ctx context.Context, vhost string, id uint64, operators bool) (change uint64, err error) {
	r, err := ask.One[*mail.PolicyReply](ctx, ps.cfg.Asker, ps.cfg.Registry, func(to mail.Address) any {
		return &mail.UndoPolicyChange{Request: mail.Request{ReplyTo: to, By: events.OriginOf(ctx)}, VHost: vhost, Change: id, Operators: operators}
	})
	if err != nil {
		return 0, err
	}
	return r.Change, r.Err
}

// policies asks the registry for the policies of a virtual host, and their history.
func (ps *Policies) policies(ctx context.Context, vhost string) (*mail.PoliciesInfo, error) {
	r, err := ask.One[*mail.PoliciesInfo](ctx, ps.cfg.Asker, ps.cfg.Registry, func(to mail.Address) any {
		return &mail.DescribePolicies{Request: mail.Request{ReplyTo: to}, VHost: vhost}
	})
	if err != nil {
		return nil, err
	}
	return r, r.Err
}

// object finds a queue or an exchange. It does not find the default exchange, which has no policies.
func (ps *Policies) object(vhost, name string, exchange bool) (policies.Object, error) {
	v, ok := ps.cfg.VHosts.Find(vhost)
	if !ok {
		return policies.Object{}, protocol.ChannelErrorf(protocol.NotFound, "vhost '%s' not found", vhost)
	}
	if exchange {
		if x := v.Directory().Exchange([]byte(name)); x != nil && name != "" {
			return exchangeObject(x), nil
		}
		return policies.Object{}, protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", name, vhost)
	}
	if q := v.Directory().Queue([]byte(name)); q != nil {
		return policies.QueueObject(q.Name, q.Arguments), nil
	}
	return policies.Object{}, protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, vhost)
}

func exchangeObject(x *topology.Exchange) policies.Object {
	return policies.Object{Kind: policies.KindExchange, Name: x.Name, Arguments: x.Arguments, Delayed: x.Delayed()}
}
