package events

import "context"

// The interfaces through which changes are made.
const (
	AMQP        = "amqp"
	HTTP        = "http"
	CommandLine = "command line" // which speaks HTTP
	Import      = "import"       // of definitions, by HTTP
	Settings    = "config"       // settings, and definitions loaded at the start
)

// Origin is the user and interface of a change. It is immutable.
type Origin struct {
	User      string
	Source    string // an address and port, or the name of a connection
	Interface string // one of the constants above
}

// internalUser is RabbitMQ's name of the user for the broker's own changes.
const internalUser = "rmq-internal"

// user returns the name of the user.
func (o *Origin) user() string {
	if o == nil || o.User == "" {
		return internalUser
	}
	return o.User
}

// Declared returns how a change of a queue, an exchange or a binding is recorded: changes of durable objects, and
// changes made by hand, are recorded; transient objects of clients, imported definitions, which are recorded as a
// whole, and changes by the broker itself are not.
func (o *Origin) Declared(durable bool) Record {
	if o == nil || o.Interface == Import || o.Interface == Settings || o.Interface == AMQP && !durable {
		return Routine
	}
	return Change
}

// Asked returns how any other change is recorded: only if a user requested it.
func (o *Origin) Asked() Record {
	if o == nil {
		return Routine
	}
	return Change
}

// CommandLineAgent is the user agent of the command line over HTTP.
const CommandLineAgent = "candlemark-command-line"

type originKey struct{}

// WithOrigin returns a context for a request of o.
func WithOrigin(ctx context.Context, o *Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the origin of a request; nil for the broker itself.
func OriginOf(ctx context.Context) *Origin {
	o, _ := ctx.Value(originKey{}).(*Origin)
	return o
}
