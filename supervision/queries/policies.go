package queries

import (
	"context"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/policies"
	"candlemark/supervision/ask"
)

// Policies implements management.Policies and management.PolicyEffects.
type Policies struct {
	cfg *Config
	// previewing is held during a preview.
	previewing *turns
}

// SetPolicy implements management.Policies.
func (ps *Policies) SetPolicy(ctx context.Context, p *policies.Policy) (replaced bool, err error) {
	r, err := ask.One[*mail.PolicyReply](ctx, ps.cfg.Asker, ps.cfg.Registry, func(to mail.Address) any {
		return &mail.SetPolicy{Request: mail.Request{ReplyTo: to, By: events.OriginOf(ctx)}, Policy: p, Operator: p.Operator}
	})
	if err != nil {
		return false, err
	}
	return r.Found, r.Err
}

// SetPolicies implements management.Policies.
func (ps *Policies) SetPolicies(ctx context.Context, vhost string, all []*policies.Policy) error {
	r, err := ask.One[*mail.PolicyReply](ctx, ps.cfg.Asker, ps.cfg.Registry, func(to mail.Address) any {
		return &mail.SetPolicies{Request: mail.Request{ReplyTo: to, By: events.OriginOf(ctx)}, VHost: vhost, Policies: all}
	})
	if err != nil {
		return err
	}
	return r.Err
}

// ClearPolicy implements management.Policies.
func (ps *Policies) ClearPolicy(ctx context.Context, vhost, name string, operator bool) (found bool, err error) {
	r, err := ask.One[*mail.PolicyReply](ctx, ps.cfg.Asker, ps.cfg.Registry, func(to mail.Address) any {
		return &mail.ClearPolicy{Request: mail.Request{ReplyTo: to, By: events.OriginOf(ctx)}, VHost: vhost, Name: name, Operator: operator}
	})
	if err != nil {
		return false, err
	}
	return r.Found, r.Err
}

// ListPolicies implements management.Policies.
func (ps *Policies) ListPolicies(ctx context.Context, vhost string, operator bool) ([]*policies.Policy, error) {
	r, err := ask.One[*mail.PolicyList](ctx, ps.cfg.Asker, ps.cfg.Registry, func(to mail.Address) any {
		return &mail.ListPolicies{Request: mail.Request{ReplyTo: to}, VHost: vhost, Operator: operator}
	})
	if err != nil {
		return nil, err
	}
	return r.Policies, r.Err
}

// ForgetPolicies drops the policies of a deleted virtual host, or of an earlier one of that name.
func (ps *Policies) ForgetPolicies(ctx context.Context, vhost string) error {
	r, err := ask.One[*mail.PolicyReply](ctx, ps.cfg.Asker, ps.cfg.Registry, func(to mail.Address) any {
		return &mail.ForgetVHost{Request: mail.Request{ReplyTo: to}, Name: vhost}
	})
	if err != nil {
		return err
	}
	return r.Err
}
