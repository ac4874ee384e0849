package configfile

import (
	"context"
	"errors"
	"fmt"

	"candlemark/internal/admin/entityadmin"
)

// Apply creates or changes all entities. Entities that forward are first created without forwarding, as they may
// forward to each other.
func Apply(ctx context.Context, m *entityadmin.Manager, all []Entity) error {
	for i := range all {
		e := all[i]
		e.ForwardTo, e.ForwardDeadLetteredMessagesTo = "", ""
		if _, err := m.Get(ctx, e.Kind, e.Topic, e.Name); !errors.Is(err, entityadmin.ErrNotFound) {
			continue // an error occurs again below
		}
		if err := m.Create(ctx, e.Description, e.Rules...); err != nil {
			return fmt.Errorf("%s %q: %w", e.Kind, e.Path(), err)
		}
	}
	for i := range all {
		if err := m.Ensure(ctx, all[i].Description, all[i].Rules); err != nil {
			return fmt.Errorf("%s %q: %w", all[i].Kind, all[i].Path(), err)
		}
	}
	return nil
}
