package admin

import (
	"context"

	"candlemark/internal/auth"
)

// Definitions is the part of the broker that keeps virtual hosts, and what has
// to be done when a user ends. All other changes of users are made to them
// directly.
type Definitions interface {
	// PutVHost creates a virtual host and returns when it can be used, or gives
	// one that exists its new description, tags, default queue type and tracing.
	PutVHost(ctx context.Context, v auth.VHost) (created bool, err error)
	// DeleteVHost deletes a virtual host with everything in it, closes its
	// connections, and returns when its name is free. Found tells whether there
	// was one.
	DeleteVHost(ctx context.Context, name string) (found bool, err error)
	// DeleteUser deletes a user with its permissions and closes its
	// connections. Found tells whether there was one.
	DeleteUser(ctx context.Context, name string) (found bool, err error)
}
