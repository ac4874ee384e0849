package refusal

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// Reserved is the prefix of names that clients may not create (DEC-8).
const Reserved = "amq."

// Rules are the rules of one virtual host. The methods return nil if the operation is allowed.
type Rules struct {
	VHost string // name of the virtual host
	// System are the broker's own exchanges. Clients can neither bind to nor from them, nor delete them, nor create a
	// queue of such a name.
	System []mail.DeclareExchange
}

// NoQueue returns the error for a queue that does not exist.
func (r *Rules) NoQueue(name string) error {
	return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, r.VHost)
}

// Ending returns the error for a queue that cannot be declared because an earlier one of that name is ending.
func (r *Rules) Ending(name string) error {
	return protocol.ChannelErrorf(protocol.ResourceLocked, "queue '%s' in vhost '%s' is ending: the name can be used again "+
		"when all messages of the queue have been dead-lettered, or when the queue is deleted", name, r.VHost)
}

// NoExchange returns the error for an exchange that does not exist.
func (r *Rules) NoExchange(name string) error {
	return protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", name, r.VHost)
}

// onDefault returns the error of DEC-10.
func onDefault() error {
	return protocol.ChannelErrorf(protocol.AccessRefused, "operation not permitted on the default exchange")
}

// IsSystem reports whether name is the name of a System exchange.
func (r *Rules) IsSystem(name string) bool {
	return slices.ContainsFunc(r.System, func(d mail.DeclareExchange) bool { return d.Name == name })
}

// name refuses names that clients may not create.
func (r *Rules) name(kind, name string) error {
	switch {
	case strings.HasPrefix(name, Reserved):
		return protocol.ChannelErrorf(protocol.AccessRefused, "%s name '%s' contains reserved prefix 'amq.*'", kind, name)
	case r.IsSystem(name): // a system exchange that has ended unexpectedly
		return r.onSystem(kind, name)
	}
	return nil
}

func (r *Rules) onSystem(kind, name string) error {
	return protocol.ChannelErrorf(protocol.AccessRefused, "operation not permitted on the system %s '%s' in vhost '%s'", kind, name, r.VHost)
}

// NewQueue returns why a queue that does not exist may not be created. serverNamed is set if the broker has chosen the
// name.
func (r *Rules) NewQueue(d *mail.DeclareQueue, serverNamed bool) error {
	if d.Passive {
		return r.NoQueue(d.Name)
	}
	if exchanges, deadLetterQueue := policies.QueueLeadsTo(d.Arguments); len(exchanges) > 0 || deadLetterQueue {
		if err := d.Permission.Err(); err != nil {
			return err
		}
	}
	if serverNamed {
		if err := policies.ValidateServerNamed(d.Arguments); err != nil {
			return err
		}
	} else if err := r.name("queue", d.Name); err != nil {
		return err
	}
	if err := policies.ValidateQueueArguments(d.Name, r.VHost, d.Arguments); err != nil {
		return err
	}
	return orNil(policies.ValidateQueueProperties(d.Name, r.VHost, policies.QueueDeclaration{
		Durable: d.Durable, AutoDelete: d.AutoDelete, Exclusive: d.Exclusive, Arguments: d.Arguments,
	}))
}

// TooMany returns the error for a queue beyond the limit.
func (r *Rules) TooMany(name string, limit int64) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed,
		"cannot declare queue '%s': queue limit in vhost '%s' (%d) is reached", name, r.VHost, limit)
}

// TooManyQueues returns the error for a queue beyond the limit of all virtual hosts.
func TooManyQueues(name string, limit int64) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot declare queue '%s': queue limit in cluster (%d) is reached", name, limit)
}

// TooManyExchanges returns the error for an exchange beyond the limit of all virtual hosts.
func (r *Rules) TooManyExchanges(name string, limit int64) error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed,
		"cannot declare exchange '%s' in vhost '%s': exchange limit of %d is reached", name, r.VHost, limit)
}

// AnyExchange makes the checks of a declare that precede looking up the name.
func AnyExchange(d *mail.DeclareExchange) error {
	if !d.Passive {
		if d.Type == "" {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "invalid exchange type ''")
		}
		if d.Type != topology.DelayedType {
			if err := known(d.Type); err != nil {
				return err
			}
		}
	}
	if d.Name == "" {
		return onDefault()
	}
	return nil
}

// NewExchange returns why an exchange that does not exist may not be created.
func (r *Rules) NewExchange(d *mail.DeclareExchange) error {
	if d.Passive {
		return r.NoExchange(d.Name)
	}
	if err := r.name("exchange", d.Name); err != nil {
		return err
	}
	if _, leads := policies.ExchangeLeadsTo(d.Arguments); leads {
		if err := d.Permission.Err(); err != nil {
			return err
		}
	}
	if err := policies.ValidateExchangeArguments(d.Name, r.VHost, d.Arguments); err != nil {
		return err
	}
	if err := ExchangeType(d); err != nil {
		return err
	}
	x := topology.Exchange{Type: d.Type, Arguments: d.Arguments}
	return orNil(topology.ValidateExchange(x.RoutingType(), d.Arguments))
}

// ExchangeType checks DLY-1, and DEC-14 for unknown types.
func ExchangeType(d *mail.DeclareExchange) error {
	if d.Type != topology.DelayedType {
		return known(d.Type)
	}
	v, _ := d.Arguments.Get(topology.DelayedArgument)
	switch name, isText := v.(string); {
	case !isText:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "Invalid argument, 'x-delayed-type' must be an existing exchange type")
	case name == topology.DelayedType:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "Invalid argument, 'x-delayed-message' can't be used for 'x-delayed-type'")
	default:
		return known(name)
	}
}

func known(exchangeType string) error {
	if _, is := topology.NewRoutes(exchangeType, nil); !is {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "unknown exchange type '%s'", exchangeType)
	}
	return nil
}

// OtherExchange checks a declare against the existing exchange x (DEC-4).
func (r *Rules) OtherExchange(x *topology.Exchange, d *mail.DeclareExchange) error {
	return orNil(policies.EquivalentExchange(x.Name, r.VHost,
		policies.ExchangeDeclaration{Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments},
		policies.ExchangeDeclaration{Type: d.Type, Durable: d.Durable, AutoDelete: d.AutoDelete, Internal: d.Internal, Arguments: d.Arguments}))
}

// DeleteExchange refuses to delete exchanges that clients cannot create.
func (r *Rules) DeleteExchange(name string) error {
	switch {
	case name == "":
		return onDefault()
	case strings.HasPrefix(name, Reserved) || r.IsSystem(name):
		return protocol.ChannelErrorf(protocol.AccessRefused, "deletion of system exchange '%s' in vhost '%s' not allowed", name, r.VHost)
	}
	return nil
}

// Ends refuses bindings that clients may not change: at the default exchange (DEC-10) and at a System exchange.
func (r *Rules) Ends(source string, b *topology.Binding) error {
	switch {
	case source == "" || b.ToExchange && b.Destination == "":
		return onDefault()
	case r.IsSystem(source):
		return r.onSystem("exchange", source)
	case !r.IsSystem(b.Destination):
		return nil
	case b.ToExchange:
		return r.onSystem("exchange", b.Destination)
	default:
		return r.onSystem("queue", b.Destination)
	}
}

// Binding checks a binding against the type of x.
func Binding(x *topology.Exchange, b topology.Binding, to topology.Target) error {
	return orNil(topology.ValidateBinding(x.RoutingType(), b, to.Queue))
}

// orNil returns err as an error that is nil when err is.
func orNil(err *protocol.ChannelError) error {
	if err == nil {
		return nil
	}
	return err
}

// ServerName returns a name for a queue declared without one (DEC-9).
func ServerName() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return Reserved + "gen-" + base64.RawURLEncoding.EncodeToString(random[:])
}
