package dialects

import (
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Dialect is the dialect of one link, with the link's parsed address. It is a *RabbitMQ or a *ServiceBus.
type Dialect interface {
	// Address returns the address of the broker's end of the link; an entity's has its canonical name (SBE-5).
	Address() string
	// Parsed returns the address of an entity; nil in RabbitMQ's dialect.
	Parsed() *servicebus.Address
	// CheckModes checks the settle modes of an attach. The error is amqp:not-implemented.
	CheckModes(m *amqp10.Attach) error
	// EndsSession reports whether err, why the link cannot be attached, ends the session; otherwise the link is refused.
	EndsSession(err error) bool
	// Target sets the target of a link on which the client sends, and returns the queue if it is a queue. Errors:
	// *amqp10.Error, *protocol.ChannelError.
	Target(l *incoming.Link) (*topology.Queue, error)
	// Source returns the source of a link on which the client receives. Errors: as Target.
	Source(m *amqp10.Attach) (Source, error)
	// Keeps returns why, by tokens and statuses, the attached link would be refused now. Errors: as Target.
	Keeps(u Use, name string) error
	// Settlement converts a client's state for a queue. final is false if the state does not settle the delivery. Errors:
	// amqp:not-implemented; with final, for an invalid delay (RETRY-2, RETRY-5).
	Settlement(state *amqp10.State, settled bool, c *clock.Clock) (how mail.Settlement, outcome *mail.Outcome, final bool, err error)
	// Asks reports whether the client learns which of the deliveries that it settles the queue still held.
	Asks() bool
	// Left is how unsettled deliveries are settled when the link ends.
	Left() mail.Settlement
}

// Source is the source of a link.
type Source struct {
	Queue       *topology.Queue
	Empty       bool // a queue that is always empty takes the place of Queue
	Arguments   protocol.Table
	Session     *mail.SessionRequest // nil for none
	Facts       bool                 // deliveries carry facts about their messages
	DeadLetters bool                 // the queue is a dead-letter queue
	MaxMessage  uint64               // largest message that the client accepts, in bytes; 0 for no limit
}

// Use is the use of a link.
type Use uint8

// The uses.
const (
	Sends    Use = iota // messages to an entity
	Receives            // from a queue
	Requests            // to a node, or their answers
)

// Limits are the limits of messages.
type Limits struct {
	MaxMessage uint64 // largest message, in bytes
	// MaxEntityMessage is the largest message or batch to an entity that sets no maximum, in bytes.
	MaxEntityMessage uint64
}

// Largest returns the size of the largest message or batch to an entity, in bytes (SBE-17).
func (l *Limits) Largest(a *access.Access, name string) uint64 {
	largest := l.MaxEntityMessage
	if kilobytes := a.Statuses.Maximum(a.Login.VHost.Name, name); kilobytes > 0 {
		largest = uint64(kilobytes) << 10
	}
	return min(largest, l.MaxMessage)
}

// MaxLinkName and MaxLinkAddress are the maximum lengths, in bytes, of the name of a link and of its addresses: the
// broker keeps them as long as the link. Entity names have at most 310 bytes, addresses of RabbitMQ's dialect less than
// 1,600.
const (
	MaxLinkName    = 1024
	MaxLinkAddress = 4096
)

// Of returns the dialect of a link, and stores the canonical address in m. A longer name or address is refused with
// amqp:invalid-field.
func Of(m *amqp10.Attach, a *access.Access, limits *Limits) (Dialect, error) {
	address, other := addressOf(m), ""
	if m.Role == amqp10.RoleReceiver {
		other = TargetOf(m)
	}
	switch {
	case len(m.Name) > MaxLinkName:
		return nil, amqp10.Errorf(amqp10.InvalidField, "the link name has %d bytes, more than the limit of %d", len(m.Name), MaxLinkName)
	case len(address) > MaxLinkAddress, len(other) > MaxLinkAddress:
		return nil, amqp10.Errorf(amqp10.InvalidField, "a link address has more than %d bytes", MaxLinkAddress)
	}
	if name := a.Entity(address); name != address {
		setAddress(m, name)
		address = name
	}
	if servicebus.Is(address) {
		return &ServiceBus{address: servicebus.Parse(address), access: a, limits: limits}, nil
	}
	return &RabbitMQ{address: address, access: a}, nil
}

// addressOf returns the address of the broker's end of a link.
func addressOf(m *amqp10.Attach) string {
	switch {
	case m.Role == amqp10.RoleSender && m.Target != nil:
		return m.Target.Address.Or("")
	case m.Role == amqp10.RoleReceiver && m.Source != nil:
		return m.Source.Address.Or("")
	}
	return ""
}

// setAddress replaces the address of the broker's end of a link.
func setAddress(m *amqp10.Attach, address string) {
	if m.Role == amqp10.RoleSender {
		to := *m.Target
		to.Address = amqp10.Some(address)
		m.Target = &to
		return
	}
	from := *m.Source
	from.Address = amqp10.Some(address)
	m.Source = &from
}

// TargetOf returns the address of the target of a link, "" for none.
func TargetOf(m *amqp10.Attach) string {
	if m.Target == nil {
		return ""
	}
	return m.Target.Address.Or("")
}
