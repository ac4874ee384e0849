package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"candlemark/internal/auth"
	"candlemark/internal/management"
	"candlemark/internal/servicebus/entity"
	"candlemark/policies"
	"candlemark/protocol"
)

// Errors of the Manager. Others are of the broker.
var (
	ErrExists   = errors.New("it exists already")
	ErrNotFound = errors.New("it does not exist")
	ErrInvalid  = errors.New("it is not valid") // in the chain of errors
)

// Manager manages the entities of a virtual host for a user.
type Manager struct {
	Broker management.Broker
	VHost  string
	// User makes the changes, as far as Users permit; nil stands for the broker itself, who may do everything.
	User  *auth.User
	Users auth.Permissions
	// Keys has the keys of entities; nil to leave them alone.
	Keys *auth.Users
}

// MayConfigure checks the permission to configure an entity, by the name that it has.
func (m *Manager) MayConfigure(d *entity.Description) error {
	if m.User == nil {
		return nil
	}
	kind := auth.Queue
	if d.Kind == entity.Topic {
		kind = auth.Exchange
	}
	return m.Users.Check(*m.User, m.VHost, auth.Resource{Kind: kind, Name: d.Path()}, auth.Configure)
}

// permit checks the permission to configure, as a declaration does, before policies are set.
func (m *Manager) permit(d *entity.Description) error {
	if err := m.MayConfigure(d); err != nil || m.User == nil || d.Kind == entity.Topic || d.ForwardDeadLetteredMessagesTo != "" {
		return err
	}
	return m.Users.Check(*m.User, m.VHost, auth.Resource{Kind: auth.Queue, Name: cmp.Or(policies.DeadLetterQueueOf(d.Path()), d.Path())}, auth.Configure)
}

// lead checks the permissions to have what comes to a queue sent on to an exchange.
func (m *Manager) lead(queue, exchange string) error {
	if m.User == nil {
		return nil
	}
	if err := m.Users.Check(*m.User, m.VHost, auth.Resource{Kind: auth.Queue, Name: queue}, auth.Read); err != nil {
		return err
	}
	return m.Users.Check(*m.User, m.VHost, auth.Resource{Kind: auth.Exchange, Name: exchange}, auth.Write)
}

func invalid(err error) error { return fmt.Errorf("%w: %w", ErrInvalid, err) }

func invalidf(format string, args ...any) error { return invalid(fmt.Errorf(format, args...)) }

// run carries out a method of AMQP.
func (m *Manager) run(ctx context.Context, what protocol.Method) error {
	if m.User != nil {
		_, err := m.Broker.Run(ctx, *m.User, m.VHost, what)
		return err
	}
	failed := errors.New("the broker did not answer")
	err := m.Broker.RunAll(ctx, auth.User{Name: "none"}, m.VHost, []protocol.Method{what}, func(_ int, err error) { failed = err })
	return errors.Join(err, failed)
}

// Counts are messages of an entity. Those that wait until they are forwarded count as Transfers in place of Active.
type Counts struct{ Active, DeadLetters, Scheduled, Transfers int }

// All returns how many there are.
func (c Counts) All() int { return c.Active + c.DeadLetters + c.Scheduled + c.Transfers }

// Entity is one that there is.
type Entity struct {
	entity.Description
	Counts        Counts
	Bytes         int64 // of the bodies
	Subscriptions int   // of a topic
	// SQLFilters and CorrelationFilters count the rules of a topic's subscriptions; those that match everything or nothing are SQL filters.
	SQLFilters, CorrelationFilters int
	Keys                           []Key // nil for a user that has not all rights there
	Accessed                       int64 // ms since 1970, 0 for never
}
