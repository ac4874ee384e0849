package management

import (
	"context"

	"candlemark/internal/access/auth"
	"candlemark/protocol"
)

// Commands is the part of the broker that does what a user could do on an AMQP
// channel. Everything is checked and answered as it would be there: a refusal is
// a *protocol.ChannelError or *protocol.ConnectionError.
type Commands interface {
	// Run carries out one method that has an answer, and returns that.
	Run(ctx context.Context, by auth.User, vhost string, m protocol.Method) (protocol.Method, error)
	// RunAll carries out many methods, some at a time and in no order, without checking the user's permissions. done is
	// called for each finished method, one call at a time; the result of the others is unknown. Error: ctx's.
	RunAll(ctx context.Context, by auth.User, vhost string, all []protocol.Method, done func(i int, err error)) error
	// Get takes messages from a queue with basic.get (LEASE-4: renews).
	Get(ctx context.Context, by auth.User, vhost, queue string, how Fetch) ([]Fetched, error)
	// Publish publishes a mandatory message and waits for the confirm. Routed reports whether it reached a queue,
	// refused whether a queue refused it.
	Publish(ctx context.Context, by auth.User, vhost string, p Publication) (routed, refused bool, err error)
}

// Fetch has the parameters for getting messages.
type Fetch struct {
	Count int
	// Keep leaves them in the queue, in their places; Discard rejects them;
	// otherwise they are acknowledged.
	Keep, Discard bool
	// MaxBytes of bodies end the getting.
	MaxBytes int
}

// Fetched is a message that was got.
type Fetched struct {
	protocol.BasicGetOk
	Properties protocol.Properties
	Body       []byte
}

// Publication is a message to be published.
type Publication struct {
	Exchange, RoutingKey string
	Properties           protocol.Properties
	Body                 []byte
}
