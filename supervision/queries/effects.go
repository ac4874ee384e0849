package queries

import (
	"context"

	"candlemark/actors/mail"
	"candlemark/internal/topology"
	"candlemark/policies"
	"candlemark/protocol"
	"candlemark/supervision/ask"
)

// ExplainPolicies implements management.PolicyEffects.
func (qs *Queries) ExplainPolicies(ctx context.Context, vhost, name string, exchange bool) (policies.Explanation, error) {
	o, err := qs.object(vhost, name, exchange)
	if err != nil {
		return policies.Explanation{}, err
	}
	set, err := qs.policySet(ctx, vhost)
	if err != nil {
		return policies.Explanation{}, err
	}
	return set.Explain(&o), nil
}

// policySet asks the registry for the policies of a virtual host.
func (qs *Queries) policySet(ctx context.Context, vhost string) (*policies.Set, error) {
	r, err := ask.One[*mail.PoliciesInfo](ctx, qs.cfg.Asker, qs.cfg.Registry, func(to mail.Address) any {
		return &mail.DescribePolicies{Request: mail.Request{ReplyTo: to}, VHost: vhost}
	})
	if err != nil {
		return nil, err
	}
	return r.Set, r.Err
}

// object finds a queue or an exchange. The default exchange has no policies, so it is none.
func (qs *Queries) object(vhost, name string, exchange bool) (policies.Object, error) {
	v, ok := qs.cfg.VHosts.Find(vhost)
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
