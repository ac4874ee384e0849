package dialect

import (
	"slices"

	"candlemark/protocol/amqp10"
)

// temporaryQueue is the capability of a dynamic node that is a queue, and ends with its link.
const temporaryQueue = amqp10.Symbol("temporary-queue")

// maxLabel is the limit for container-id and link name together in the name of a temporary queue, in bytes.
const maxLabel = 150

// node returns the terminus of an attach on the broker's side: a nil source, a nil target, or both.
func node(m *amqp10.Attach) (*amqp10.Source, *amqp10.Target) {
	if m.Role == amqp10.RoleSender {
		return nil, m.Target
	}
	return m.Source, nil
}

// IsDynamic reports whether a link is to a node that the broker creates.
func IsDynamic(m *amqp10.Attach) bool {
	source, target := node(m)
	return source != nil && source.Dynamic || target != nil && target.Dynamic
}

// IsVolatile reports whether the dynamic source of a link is for direct replies.
func IsVolatile(m *amqp10.Attach) bool {
	source, _ := node(m)
	return source != nil && slices.Contains(source.Capabilities, volatileQueue)
}

// TemporaryName returns a name for the queue of a dynamic node. It contains the client's container-id and the name of the link if
// they are short, and ends with suffix, which makes it unique. The error is amqp:not-implemented.
func TemporaryName(m *amqp10.Attach, container, suffix string) (string, error) {
	source, target := node(m)
	switch {
	case source != nil && (source.Address.Set || !slices.Contains(source.Capabilities, temporaryQueue)):
		return "", amqp10.Errorf(amqp10.NotImplemented, "a dynamic source must have no address, and the capability %s or %s", temporaryQueue, volatileQueue)
	case target != nil && (target.Address.Set || !slices.Contains(target.Capabilities, temporaryQueue)):
		return "", amqp10.Errorf(amqp10.NotImplemented, "a dynamic target must have no address, and the capability %s", temporaryQueue)
	case len(container)+len(m.Name) >= maxLabel:
		return "amq.dyn.gen-" + suffix, nil
	}
	return "amq.dyn-" + container + "-" + m.Name + "-" + suffix, nil
}

// AtTemporary returns the attach of a link to its temporary queue, with the properties for the answer.
func AtTemporary(m *amqp10.Attach, queue string) *amqp10.Attach {
	at := *m
	source, target := node(m)
	if source != nil {
		made := amqp10.Source{
			Address: amqp10.Some(QueueAddress(queue)), ExpiryPolicy: linkDetach, Dynamic: true, DistributionMode: move, Capabilities: []amqp10.Symbol{temporaryQueue},
			DynamicNodeProperties: lifetime(),
		}
		at.Source = &made
	}
	if target != nil {
		at.Target = &amqp10.Target{
			Address: amqp10.Some(QueueAddress(queue)), ExpiryPolicy: linkDetach, Dynamic: true, Capabilities: []amqp10.Symbol{temporaryQueue},
			DynamicNodeProperties: lifetime(),
		}
	}
	return &at
}

// move is the distribution mode of queues.
const move = amqp10.Symbol("move")

// lifetime returns the properties of a dynamic node: it ends with its link [AMQP 1.0 messaging 3.5.10].
func lifetime() amqp10.Map {
	return amqp10.Map{
		{Key: amqp10.Symbol("lifetime-policy"), Value: amqp10.Described{Descriptor: amqp10.Symbol("amqp:delete-on-close:list"), Value: amqp10.List{}}},
		{Key: amqp10.Symbol("supported-dist-modes"), Value: amqp10.Array{Of: amqp10.TypeSymbol, Values: []any{move}}},
	}
}
