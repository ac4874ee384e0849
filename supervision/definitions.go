package supervision

import (
	"context"
	"errors"

	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

// PutVHost implements management.Definitions.
func (b *broker) PutVHost(ctx context.Context, v auth.VHost) (created bool, err error) {
	n := b.node
	users := n.cfg.Users.By(events.OriginOf(ctx))
	if err := n.lockVHosts(ctx); err != nil {
		return false, err
	}
	defer func() { <-n.changing }()
	if err := n.counted.checkVHost(n.cfg.Users, v.Name); err != nil {
		return false, err
	}
	if created, err = users.PutVHost(v); err != nil {
		return false, err
	}
	if created {
		// Policies that a late command set for a deleted virtual host of that name must not apply again.
		if err = n.queries.Policies.ForgetPolicies(ctx, v.Name); err == nil {
			err = n.await(ctx, func(done chan<- error) any { return startVHost{v.Name, done} })
		}
		if err != nil {
			v.Protected = false
			_, errOpen := users.PutVHost(v)
			return false, errors.Join(err, errOpen, users.DeleteVHost(v.Name))
		}
	}
	if handle, ok := n.VHost(v.Name); ok && !created {
		handle.SetDefaultQueueType(v.DefaultQueueType)
		handle.SetTracing(v.Tracing)
	}
	return created, nil
}

// DeleteVHost implements management.Definitions.
func (b *broker) DeleteVHost(ctx context.Context, name string) (found bool, err error) {
	n := b.node
	if err := n.lockVHosts(ctx); err != nil {
		return false, err
	}
	defer func() { <-n.changing }()
	switch err := n.cfg.Users.By(events.OriginOf(ctx)).DeleteVHost(name); {
	case errors.Is(err, auth.ErrNoVHost):
		return false, nil
	case err != nil:
		return false, err
	}
	n.parameters.Shovels.Forget(name)
	err = n.await(ctx, func(done chan<- error) any { return stopVHost{name, done} })
	return true, errors.Join(err, n.queries.Policies.ForgetPolicies(ctx, name))
}

// DeleteUser implements management.Definitions.
func (b *broker) DeleteUser(ctx context.Context, name string) (found bool, err error) {
	n := b.node
	switch err := n.cfg.Users.By(events.OriginOf(ctx)).DeleteAccount(name); {
	case errors.Is(err, auth.ErrNoUser):
		return false, nil
	case err != nil:
		return false, err
	}
	n.asker.Post(n.root, &mail.CloseConnection{
		User: name, Err: protocol.ConnectionErrorf(protocol.ConnectionForced, "user '%s' is deleted", name),
	})
	if schedules := n.schedules.SchedulesOf(name); schedules > 0 {
		n.cfg.Log.Warn().Str("user", name).Int("schedules", schedules).Msg("a user was deleted as whom schedules publish: their runs are refused until there is such a user again")
	}
	return true, nil
}

// await sends the root a request and waits until it is done.
func (n *Node) await(ctx context.Context, what func(done chan<- error) any) error {
	failure, err := askRoot(ctx, n, what)
	return errors.Join(failure, err)
}

// lockVHosts permits one change of the virtual hosts at a time, until n.changing is read.
func (n *Node) lockVHosts(ctx context.Context) error {
	select {
	case n.changing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
