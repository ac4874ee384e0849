package entityadmin

import (
	"context"
	"slices"

	"candlemark/internal/admin/management"
	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
	"candlemark/protocol"
)

func checkRule(r *filter.Rule) error {
	if err := entity.CheckRuleName(r.Name); err != nil {
		return invalid(err)
	}
	if err := r.Validate(); err != nil {
		return invalid(err)
	}
	return nil
}

func (m *Manager) bind(ctx context.Context, topic, subscription string, r *filter.Rule) error {
	return m.run(ctx, &protocol.QueueBind{
		Queue: entity.SubscriptionQueue(topic, subscription), Exchange: topic, RoutingKey: r.Name, Arguments: r.Arguments(),
	})
}

// bound is a rule with its binding.
type bound struct {
	filter.Rule
	binding management.Binding
}

// bindings returns the rules of a subscription, by name. Errors: ErrNotFound, and MayConfigure's.
func (m *Manager) bindings(ctx context.Context, topic, subscription string) (rules []bound, topicName, own string, err error) {
	s, err := m.Get(ctx, entity.Subscription, topic, subscription)
	if err != nil {
		return nil, "", "", err
	}
	if err := m.MayConfigure(&s.Description); err != nil {
		return nil, "", "", err
	}
	queue := s.Path()
	all, err := m.Broker.Bindings(ctx, management.BindingFilter{VHost: &m.VHost, Source: &s.Topic, Destination: &queue})
	for _, b := range all {
		if r, wrong := filter.RuleOf(b.RoutingKey, b.Arguments); wrong == nil && !b.ToExchange {
			rules = append(rules, bound{r, b})
		}
	}
	slices.SortStableFunc(rules, func(a, b bound) int { return filter.CompareNames(a.Name, b.Name) })
	return rules, s.Topic, s.Name, err
}

// Rules returns the rules of a subscription in the order of filter.CompareNames: top of them after the first skip. Error: ErrNotFound.
func (m *Manager) Rules(ctx context.Context, topic, subscription string, skip, top int) ([]filter.Rule, error) {
	all, _, _, err := m.bindings(ctx, topic, subscription)
	rules := []filter.Rule{}
	for i := skip; err == nil && i < min(skip+top, len(all)); i++ {
		rules = append(rules, all[i].Rule)
	}
	return rules, err
}

// Rule returns one rule. Error: ErrNotFound.
func (m *Manager) Rule(ctx context.Context, topic, subscription, name string) (filter.Rule, error) {
	all, _, _, err := m.bindings(ctx, topic, subscription)
	if err != nil {
		return filter.Rule{}, err
	}
	if one, ok := found(all, name, func(b bound) string { return b.Name }); ok {
		return one.Rule, nil
	}
	return filter.Rule{}, ErrNotFound
}

// CreateRule adds a rule. Errors: ErrNotFound, ErrExists, ErrInvalid.
func (m *Manager) CreateRule(ctx context.Context, topic, subscription string, r filter.Rule) error {
	if err := checkRule(&r); err != nil {
		return err
	}
	all, topic, subscription, err := m.bindings(ctx, topic, subscription)
	if err != nil {
		return err
	}
	if _, there := found(all, r.Name, func(b bound) string { return b.Name }); there {
		return ErrExists
	}
	return m.bind(ctx, topic, subscription, &r)
}

// UpdateRule replaces a rule: for a moment both apply. Errors: ErrNotFound, ErrInvalid.
func (m *Manager) UpdateRule(ctx context.Context, topic, subscription string, r filter.Rule) error {
	if err := checkRule(&r); err != nil {
		return err
	}
	all, topic, subscription, err := m.bindings(ctx, topic, subscription)
	if err != nil {
		return err
	}
	before, there := found(all, r.Name, func(b bound) string { return b.Name })
	if !there {
		return ErrNotFound
	}
	if r.Name = before.Name; r.Same(&before.Rule) {
		return nil
	}
	if err := m.bind(ctx, topic, subscription, &r); err != nil {
		return err
	}
	return m.unbind(ctx, &before)
}

// DeleteRule removes a rule. Error: ErrNotFound.
func (m *Manager) DeleteRule(ctx context.Context, topic, subscription, name string) error {
	all, _, _, err := m.bindings(ctx, topic, subscription)
	if err != nil {
		return err
	}
	one, there := found(all, name, func(b bound) string { return b.Name })
	if !there {
		return ErrNotFound
	}
	return m.unbind(ctx, &one)
}

func (m *Manager) unbind(ctx context.Context, b *bound) error {
	return m.run(ctx, &protocol.QueueUnbind{
		Queue: b.binding.Destination, Exchange: b.binding.Source, RoutingKey: b.binding.RoutingKey, Arguments: b.binding.Arguments,
	})
}
