package dialects

import (
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/client/session10/settlement"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// RabbitMQ is RabbitMQ's dialect: addresses begin with a slash, and a rejected link may end the session.
type RabbitMQ struct {
	address string
	access  *access.Access
}

// Address implements Dialect.
func (d *RabbitMQ) Address() string { return d.address }

// Parsed implements Dialect.
func (d *RabbitMQ) Parsed() *servicebus.Address { return nil }

// CheckModes implements Dialect.
func (d *RabbitMQ) CheckModes(m *amqp10.Attach) error {
	if m.RcvSettleMode != amqp10.ReceiverFirst && m.SndSettleMode != amqp10.SenderSettled { // otherwise nothing is left to settle
		return amqp10.Errorf(amqp10.NotImplemented, "rcv-settle-mode second is not supported")
	}
	return nil
}

// EndsSession implements Dialect.
func (d *RabbitMQ) EndsSession(err error) bool { return dialect.EndsSession(err) }

// Target implements Dialect.
func (d *RabbitMQ) Target(l *incoming.Link) (*topology.Queue, error) {
	return l.To(d.address, d.access.Login)
}

// Source implements Dialect.
func (d *RabbitMQ) Source(m *amqp10.Attach) (s Source, err error) {
	name, err := dialect.ParseSource(d.address)
	if err != nil {
		return s, err
	}
	may := access.Rights{Rights: *d.access.Login}
	if s.Queue, err = may.MayReceive(name); err != nil {
		return s, err
	}
	s.MaxMessage = m.MaxMessageSize.Or(0)
	s.Arguments, err = dialect.ConsumerArguments(m.Properties)
	return s, err
}

// Keeps implements Dialect. Neither tokens nor statuses apply.
func (d *RabbitMQ) Keeps(Use, string) error { return nil }

// Settlement implements Dialect.
func (d *RabbitMQ) Settlement(state *amqp10.State, settled bool, c *clock.Clock) (mail.Settlement, *mail.Outcome, bool, error) {
	return settlement.Of(state, settled, c)
}

// Asks implements Dialect.
func (d *RabbitMQ) Asks() bool { return false }

// Left implements Dialect.
func (d *RabbitMQ) Left() mail.Settlement { return mail.Requeue }
