package dialects

import (
	"cmp"

	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// ServiceBus is Azure Service Bus's dialect: addresses are plain names of entities, and deliveries stay locked when their link ends
// (LOCK-10).
type ServiceBus struct {
	address servicebus.Address
	access  *access.Access
	limits  *Limits
}

// Address implements Dialect.
func (d *ServiceBus) Address() string { return d.address.Text }

// Parsed implements Dialect.
func (d *ServiceBus) Parsed() *servicebus.Address { return &d.address }

// CheckModes implements Dialect.
func (d *ServiceBus) CheckModes(*amqp10.Attach) error { return nil }

// EndsSession implements Dialect.
func (d *ServiceBus) EndsSession(error) bool { return false }

// Target implements Dialect: a queue or, if there is no queue of that name, the exchange of a topic.
func (d *ServiceBus) Target(l *incoming.Link) (*topology.Queue, error) {
	name, err := d.address.Target()
	if err != nil {
		return nil, err
	}
	may, err := d.access.RightsAt(d.address.Text)
	if err != nil {
		return nil, err
	}
	exchange, key, err := may.MaySend(name)
	l.ToEntity(d.address.Text, exchange, key, d.limits.Largest(d.access, cmp.Or(exchange, key)))
	return nil, err
}

// Source implements Dialect.
func (d *ServiceBus) Source(m *amqp10.Attach) (s Source, err error) {
	name, err := d.address.Source()
	if err != nil {
		return s, err
	}
	may, err := d.access.RightsAt(d.address.Text)
	if err != nil {
		return s, err
	}
	if s.Queue, err = may.MayReceive(name); err != nil {
		return s, err
	}
	if d.address.IsEmpty() {
		return Source{Empty: true}, nil
	}
	s.Facts, s.DeadLetters = true, d.address.IsDeadLetters()
	if s.Arguments, err = dialect.ConsumerArguments(m.Properties); err != nil {
		return s, err
	}
	id, next, wanted, err := servicebus.SessionOf(m.Source.Filter)
	if err == nil && wanted {
		s.Session = &mail.SessionRequest{ID: id, Next: next, Wait: servicebus.WaitOf(m.Properties), Link: m.Name}
	}
	return s, err
}

// Keeps implements Dialect.
func (d *ServiceBus) Keeps(u Use, name string) error {
	if d.address.Text == servicebus.TokenNode {
		return nil
	}
	may, err := d.access.RightsAt(d.address.Text)
	if err != nil || u == Requests {
		return err
	}
	return may.Keeps(u == Receives, name)
}

// Settlement implements Dialect: every state settles the delivery.
func (d *ServiceBus) Settlement(state *amqp10.State, _ bool, c *clock.Clock) (how mail.Settlement, outcome *mail.Outcome, final bool, err error) {
	how, outcome, err = entities.Settlement(state, c)
	return how, outcome, true, err
}

// Asks implements Dialect.
func (d *ServiceBus) Asks() bool { return true }

// Left implements Dialect.
func (d *ServiceBus) Left() mail.Settlement { return mail.Leave }
