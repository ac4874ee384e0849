package management

import (
	"context"

	"candlemark/internal/storage/parameters"
)

// Shovels is the part of the broker that keeps parameters of components, and runs shovels by them.
type Shovels interface {
	// Parameters returns the parameters of components in a virtual host, in all for "", sorted.
	Parameters(vhost string) []parameters.Parameter
	// PutParameter creates or replaces one of an existing virtual host, which is valid, and has the shovel of that name begin with it.
	// Errors: auth.ErrNotStored, or a parameters.Refusal.
	PutParameter(ctx context.Context, p parameters.Parameter) (created bool, err error)
	// DeleteParameter removes one, known by its names, and ends its shovel. Found reports whether there was one. Error:
	// auth.ErrNotStored.
	DeleteParameter(ctx context.Context, p parameters.Parameter) (found bool, err error)
	// ListShovels describes the shovels of a virtual host, of all for "", sorted.
	ListShovels(vhost string) []Shovel
	// RestartShovel restarts a shovel. Found reports whether there is one.
	RestartShovel(ctx context.Context, vhost, name string) (found bool, err error)
}

// Shovel describes a shovel.
type Shovel struct {
	VHost, Name string
	// Work is nil for one that cannot run.
	Work *parameters.ShovelSpec
	// State is starting, running, blocked or terminated, Reason why the latter; it names no password. Since is in ms since 1970.
	State, Reason string
	Since         int64
	// Setter is who has set it.
	Setter parameters.Setter
	// From and To are the addresses of one that runs, without user and password.
	From, To string
	// Forwarded counts messages since the shovel was started, Pending unconfirmed messages. ToTake and ToMove are the
	// numbers of messages still to take and to move, negative for any number.
	Forwarded, Pending, ToTake, ToMove int64
}
