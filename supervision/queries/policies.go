package queries

import (
	"context"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/policies"
	"candlemark/supervision/ask"
)

// SetPolicy implements management.Policies.
func (qs *Queries) SetPolicy(ctx context.Context, p *policies.Policy) (replaced bool, err error) {
	r, err := ask.One[*mail.PolicyReply](ctx, qs.cfg.Asker, qs.cfg.Registry, func(to mail.Address) any {
		return &mail.SetPolicy{Request: mail.Request{ReplyTo: to, By: events.OriginOf(ctx)}, Policy: p, Operator: p.Operator}
	})
	if err != nil {
		return false, err
	}
	return r.Found, r.Err
}

// SetPolicies implements management.Policies.
func (qs *Queries) SetPolicies(ctx context.Context, vhost string, all []*policies.Policy) error {
	r, err := ask.One[*mail.PolicyReply](ctx, qs.cfg.Asker, qs.cfg.Registry, func(to mail.Address) any {
		return &mail.SetPolicies{Request: mail.Request{ReplyTo: to, By: events.OriginOf(ctx)}, VHost: vhost, Policies: all}
	})
	if err != nil {
		return err
	}
	return r.Err
}

// ClearPolicy implements management.Policies.
func (qs *Queries) ClearPolicy(ctx context.Context, vhost, name string, operator bool) (found bool, err error) {
	r, err := ask.One[*mail.PolicyReply](ctx, qs.cfg.Asker, qs.cfg.Registry, func(to mail.Address) any {
		return &mail.ClearPolicy{Request: mail.Request{ReplyTo: to, By: events.OriginOf(ctx)}, VHost: vhost, Name: name, Operator: operator}
	})
	if err != nil {
		return false, err
	}
	return r.Found, r.Err
}

// ListPolicies implements management.Policies.
func (qs *Queries) ListPolicies(ctx context.Context, vhost string, operator bool) ([]*policies.Policy, error) {
	r, err := ask.One[*mail.PolicyList](ctx, qs.cfg.Asker, qs.cfg.Registry, func(to mail.Address) any {
		return &mail.ListPolicies{Request: mail.Request{ReplyTo: to}, VHost: vhost, Operator: operator}
	})
	if err != nil {
		return nil, err
	}
	return r.Policies, r.Err
}

// VHosts implements management.Broker.
func (qs *Queries) VHosts(context.Context) ([]string, error) {
	list := qs.cfg.VHosts.List("")
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name
	}
	return names, nil
}

// ForgetPolicies drops the policies of a deleted virtual host, or of an earlier one of that name.
func (qs *Queries) ForgetPolicies(ctx context.Context, vhost string) error {
	r, err := ask.One[*mail.PolicyReply](ctx, qs.cfg.Asker, qs.cfg.Registry, func(to mail.Address) any {
		return &mail.ForgetVHost{Request: mail.Request{ReplyTo: to}, Name: vhost}
	})
	if err != nil {
		return err
	}
	return r.Err
}
