package entityadmin

import (
	"context"
	"errors"

	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

// Ensure creates an entity as described, or changes it if it differs. For a subscription, rules replaces its rules; nil
// leaves them. Errors: as for Create and Update.
func (m *Manager) Ensure(ctx context.Context, d entity.Description, rules []filter.Rule) error {
	before, err := m.Get(ctx, d.Kind, d.Topic, d.Name)
	if errors.Is(err, ErrNotFound) {
		return m.Create(ctx, d, rules...)
	}
	if err != nil {
		return err
	}
	d.Name, d.Topic, d.Extra = before.Name, before.Topic, before.Extra
	if d != before.Description {
		if err := m.Update(ctx, d); err != nil {
			return err
		}
	}
	if d.Kind != entity.Subscription || rules == nil {
		return nil
	}
	return m.ensureRules(ctx, &d, rules)
}

func (m *Manager) ensureRules(ctx context.Context, d *entity.Description, rules []filter.Rule) error {
	all, _, _, err := m.bindings(ctx, d.Topic, d.Name)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		before, there := found(all, r.Name, func(b bound) string { return b.Name })
		if there {
			wanted[before.Name] = true
			err = m.UpdateRule(ctx, d.Topic, d.Name, *r)
		} else {
			err = m.CreateRule(ctx, d.Topic, d.Name, *r)
		}
		if err != nil {
			return err
		}
	}
	for i := range all {
		if !wanted[all[i].Name] {
			if err := m.unbind(ctx, &all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
