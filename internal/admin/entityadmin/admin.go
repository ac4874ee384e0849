package entityadmin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/servicebus/entity"
	"candlemark/policies"
	"candlemark/protocol"
)

// Errors of the Manager. Others come from the broker.
var (
	ErrExists   = errors.New("it exists already")
	ErrNotFound = errors.New("it does not exist")
	ErrInvalid  = errors.New("it is not valid") // in the chain of errors
)

// Manager manages the entities of a virtual host for a user.
type Manager struct {
	Broker management.Broker
	VHost  string
	// User makes the changes, as far as Users permit; nil stands for the broker itself, which may do everything.
	User  *auth.User
	Users auth.Permissions
	// Report, unless nil, is called with user policies that no longer apply to an entity because its own does (SBE-15).
	Report func(Replaced)
	// Keys has the keys of entities; nil to leave them alone.
	Keys *auth.Users
}

// Replaced is a user policy that no longer applies to an entity.
type Replaced struct {
	Path, Policy string   // of the entity's queue or exchange; the name of the policy
	Looser       []string // its limits that the entity's policy does not keep
}

// String describes it for administrators.
func (r Replaced) String() string {
	text := fmt.Sprintf("policy '%s' does not apply to '%s', because the policy of the entity does", r.Policy, r.Path)
	if len(r.Looser) == 0 {
		return text
	}
	return text + ", without its limits " + strings.Join(r.Looser, ", ") + "; limits in operator policies apply to entities"
}

// MayConfigure checks the permission to configure an entity, by its actual name.
func (m *Manager) MayConfigure(d *entity.Description) error {
	kind := auth.Queue
	if d.Kind == entity.Topic {
		kind = auth.Exchange
	}
	return m.mayConfigure(auth.Resource{Kind: kind, Name: d.Path()})
}

func (m *Manager) mayConfigure(r auth.Resource) error {
	if m.User == nil {
		return nil
	}
	return m.Users.Check(*m.User, m.VHost, r, auth.Configure)
}

// permit checks the permission to configure before policies are set, like a declaration.
func (m *Manager) permit(d *entity.Description) error {
	if err := m.MayConfigure(d); err != nil || d.Kind == entity.Topic || d.ForwardDeadLetteredMessagesTo != "" {
		return err
	}
	return m.mayConfigure(auth.Resource{Kind: auth.Queue, Name: cmp.Or(policies.DeadLetterQueueOf(d.Path()), d.Path())})
}

// lead checks the permissions for sending a queue's messages on to an exchange.
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

// run runs an AMQP method.
func (m *Manager) run(ctx context.Context, what protocol.Method) error {
	if m.User != nil {
		_, err := m.Broker.Run(ctx, *m.User, m.VHost, what)
		return err
	}
	failed := errors.New("the broker did not answer")
	err := m.Broker.RunAll(ctx, auth.User{Name: "none"}, m.VHost, []protocol.Method{what}, func(_ int, err error) { failed = err })
	return errors.Join(err, failed)
}

// Counts are numbers of messages of an entity. Messages waiting to be forwarded count as Transfers instead of Active.
type Counts struct{ Active, DeadLetters, Scheduled, Transfers int }

// All returns the total number.
func (c Counts) All() int { return c.Active + c.DeadLetters + c.Scheduled + c.Transfers }

// Entity is an existing entity.
type Entity struct {
	entity.Description
	Counts        Counts
	Bytes         int64 // of the bodies
	Subscriptions int   // of a topic
	// SQLFilters and CorrelationFilters count the rules of a topic's subscriptions; rules that match everything or nothing
	// count as SQL filters.
	SQLFilters, CorrelationFilters int
	Keys                           []Key // nil for a user without all rights there
	Accessed                       int64 // ms since 1970, 0 for never
}
