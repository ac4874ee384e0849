package management

import (
	"context"
	"encoding/json"

	"candlemark/internal/access/auth"
)

// ClusterName is the global parameter that names the broker, a text.
const ClusterName = "cluster_name"

// Definitions is the part of the broker that keeps virtual hosts, and what has
// to be done when a user ends. All other changes of users are made to them
// directly.
type Definitions interface {
	// PutVHost creates a virtual host and returns when it can be used, or gives
	// one that exists its new description, tags, default queue type, tracing and protection.
	PutVHost(ctx context.Context, v auth.VHost) (created bool, err error)
	// DeleteVHost deletes a virtual host with everything in it, closes its connections, and returns when its name is
	// free. Found reports whether there was one. Error: auth.ErrProtected.
	DeleteVHost(ctx context.Context, name string) (found bool, err error)
	// DeleteUser deletes a user with its permissions and closes its connections. Found reports whether there was one.
	DeleteUser(ctx context.Context, name string) (found bool, err error)
	// Globals returns the global parameters by name. They are immutable.
	Globals() map[string]json.RawMessage
	// PutGlobal creates or replaces one, DeleteGlobal removes one. Error:
	// auth.ErrNotStored.
	PutGlobal(ctx context.Context, name string, value json.RawMessage) (created bool, err error)
	DeleteGlobal(ctx context.Context, name string) (found bool, err error)
}
