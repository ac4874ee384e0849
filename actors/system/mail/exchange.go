package mail

import (
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// AddBinding adds a binding between existing ends. From the vhost; the exchange publishes its new table and sends
// TopologyReply to the sender of the Request.
type AddBinding struct {
	Request
	Binding         topology.Binding
	Target          topology.Target
	Exchange, VHost string // names, for errors
}

// Answer implements Answerable.
func (b *AddBinding) Answer(f Cause) (Address, any) {
	return b.ReplyTo, &TopologyReply{Reply: b.Done(goneExchange(f, b.Exchange, b.VHost))}
}

// RemoveBinding removes a binding. From the vhost; TopologyReply goes to the sender of the Request.
type RemoveBinding struct {
	Request
	Binding         topology.Binding
	Exchange, VHost string // names, for errors
}

// Answer implements Answerable: an exchange that has ended has no bindings.
func (b *RemoveBinding) Answer(f Cause) (Address, any) {
	var err error
	if f == Failed {
		err = goneExchange(f, b.Exchange, b.VHost)
	}
	return b.ReplyTo, &TopologyReply{Reply: b.Done(err)}
}

// ForgetDestination removes all bindings to a queue or exchange that is ending. From the vhost, which gets
// ForgetDestinationReply once the new table is published.
type ForgetDestination struct {
	Request
	Name       string
	ToExchange bool
}

// Answer implements Answerable: an exchange that has ended has no bindings.
func (d *ForgetDestination) Answer(Cause) (Address, any) {
	return d.ReplyTo, &ForgetDestinationReply{Reply: d.Done(nil)}
}

// NoDestination returns the error for a binding to a destination that is being forgotten.
func NoDestination(d *ForgetDestination, vhost string) error {
	kind := "queue"
	if d.ToExchange {
		kind = "exchange"
	}
	return protocol.ChannelErrorf(protocol.NotFound, "no %s '%s' in vhost '%s'", kind, d.Name, vhost)
}

// MoveDestination redirects all bindings of a queue to its new actor after a panic. From the vhost, which gets
// ConfigureExchangeReply once the new table is published.
type MoveDestination struct {
	Request
	To *topology.Queue
}

// Answer implements Answerable: an exchange that has ended has no bindings.
func (d *MoveDestination) Answer(Cause) (Address, any) {
	return d.ReplyTo, &ConfigureExchangeReply{Reply: d.Done(nil)}
}

// RetireExchange ends an exchange unless IfUnused is set and it has bindings. From the vhost, which gets
// RetireExchangeReply; then the exchange stops itself. If Ask is set, it only answers whether it would.
type RetireExchange struct {
	Request
	IfUnused, Ask bool
}

// Answer implements Answerable: an exchange that has ended counts as deleted.
func (d *RetireExchange) Answer(Cause) (Address, any) {
	return d.ReplyTo, &RetireExchangeReply{Reply: d.Done(nil)}
}

// ConfigureExchange gives an exchange its settings after a policy change; it publishes them and answers with
// ConfigureExchangeReply.
type ConfigureExchange struct {
	Request
	Settings policies.ExchangeSettings
}

// Answer implements Answerable.
func (c *ConfigureExchange) Answer(Cause) (Address, any) {
	return c.ReplyTo, &ConfigureExchangeReply{Reply: c.Done(nil)}
}

// ConfigureExchangeReply answers ConfigureExchange after publishing.
type ConfigureExchangeReply struct{ Reply }

func goneExchange(f Cause, exchange, vhost string) error {
	if f == Failed {
		return protocol.ConnectionErrorf(protocol.InternalError, "exchange '%s' in vhost '%s' failed", exchange, vhost)
	}
	return protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", exchange, vhost)
}
