package access

import (
	"errors"

	"candlemark/actors/client/rights"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/grants"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/servicebus/status"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Access finds rights by address.
type Access struct {
	Login  *rights.Rights
	Tokens *grants.Table // the connection's tokens; nil for none
	// Statuses are the statuses of entities; nil if all are active.
	Statuses *status.Table
	Clock    *clock.Clock
	Count    func(steps int) // counts the names that were compared; nil to ignore them
}

// maxScopeLength is the limit for the address of a token, in bytes: entity names have at most 310.
const maxScopeLength = 1024

// IsThere reports whether the entity of a token's scope exists; true if the scope names no entity. Too long scopes name
// none.
func (a *Access) IsThere(scope string) bool {
	if len(scope) > maxScopeLength {
		return false
	}
	queue, topic := servicebus.ParseAudience(scope)
	d := a.Login.VHost.Directory()
	if topic == "" || d.Queue([]byte(queue)) != nil || d.Exchange([]byte(topic)) != nil {
		return true
	}
	_, there := a.named(scope)
	return there
}

// Rights are the rights at an address.
type Rights struct {
	rights.Rights
	ByKey    bool // they are the rights of an access key
	statuses *status.Table
}

// RightsAt returns the rights at an address. The error is amqp:unauthorized-access if the token has expired.
func (a *Access) RightsAt(address string) (*Rights, error) {
	r := &Rights{Rights: *a.Login, statuses: a.Statuses}
	if a.Tokens == nil {
		return r, nil
	}
	if g := a.Tokens.At(address); g != nil {
		if r.User, r.ByKey = g.User, true; a.Clock.Real().Now().Floor() >= g.Ends {
			return r, amqp10.Errorf(amqp10.UnauthorizedAccess, "the token for '%s' has expired", address)
		}
	}
	return r, nil
}

// MaySend checks that messages may be sent to an entity, which is the queue of that name or, if there is none, the
// exchange: a user needs the permissions of AMQP 0-9-1, a key the permission to write to the entity. Errors: as
// rights.Writable; com.microsoft:entity-disabled.
func (r *Rights) MaySend(name string) (exchange, key string, err error) {
	if exchange, key, err = r.maySend(name); err == nil {
		err = r.Sends(name)
	}
	return exchange, key, r.claim(err, "Send", name)
}

// Sends checks that the status of an entity allows sending. The error is com.microsoft:entity-disabled.
func (r *Rights) Sends(name string) error {
	if !r.statuses.Sends(r.VHost.Name, name) {
		return servicebus.ErrDisabled("sending to", name)
	}
	return nil
}

// Receives checks that the status of an entity allows receiving from its queue. The error is
// com.microsoft:entity-disabled.
func (r *Rights) Receives(queue string) error {
	if !r.statuses.Receives(r.VHost.Name, queue) {
		return servicebus.ErrDisabled("receiving from", queue)
	}
	return nil
}

// MayPeek checks that messages of a queue may be read, in any status of the queue. Errors: as rights.Readable.
func (r *Rights) MayPeek(queue string) (*topology.Queue, error) {
	q, err := r.Readable(queue)
	return q, r.claim(err, "Listen", queue)
}

// MayReceive checks that messages may be received from a queue. Errors: as rights.Readable;
// com.microsoft:entity-disabled.
func (r *Rights) MayReceive(queue string) (*topology.Queue, error) {
	q, err := r.Readable(queue)
	if err == nil {
		err = r.Receives(queue)
	}
	return q, r.claim(err, "Listen", queue)
}

// claim returns the refusal of an access key, and the error for a missing entity, in Service Bus's words (SBE-16); other
// errors are unchanged.
func (r *Rights) claim(err error, claim, entity string) error {
	var refused *protocol.ChannelError
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.Code == protocol.NotFound:
		return amqp10.Errorf(amqp10.NotFound, "The messaging entity '%s' could not be found.", entity)
	case !r.ByKey || refused.Code != protocol.AccessRefused:
		return err
	}
	return amqp10.Errorf(amqp10.UnauthorizedAccess, "Unauthorized access. '%s' claim(s) are required to perform this operation. Resource: '%s'.", claim, entity)
}

// Keeps checks whether an attached link, which receives from a queue or sends to an entity, may stay. A user's link may
// stay regardless of changed permissions, as in AMQP 0-9-1. Errors: as MayReceive and MaySend.
func (r *Rights) Keeps(receives bool, name string) (err error) {
	switch {
	case receives && r.ByKey:
		_, err = r.MayReceive(name)
	case receives:
		err = r.Receives(name)
	case r.ByKey:
		_, _, err = r.MaySend(name)
	default:
		err = r.Sends(name)
	}
	return err
}

func (r *Rights) maySend(name string) (exchange, key string, err error) {
	exchange, key = name, ""
	queue := r.VHost.Directory().Queue([]byte(name)) != nil
	if queue {
		exchange, key = "", name
	}
	switch {
	case r.ByKey && queue:
		return exchange, key, r.Check(auth.Queue, name, auth.Write)
	case r.ByKey && name == topology.AdminExchange: // commands are executed as the user who logged in
		return exchange, key, auth.Refuse(r.User, r.VHost.Name, auth.Resource{Kind: auth.Exchange, Name: name}, auth.Write)
	}
	_, err = r.Writable([]byte(exchange))
	return exchange, key, err
}

// MayAlter checks that messages may be scheduled and cancelled in a queue, or in a topic.
func (r *Rights) MayAlter(name string, topic bool) error {
	at := auth.Resource{Kind: auth.Queue, Name: name}
	if topic {
		at.Kind = auth.Exchange
	}
	if r.ByKey {
		return r.claim(r.Check(at.Kind, name, auth.Write), "Send", name)
	}
	return auth.MayAlter(r.Permissions, r.User, r.VHost.Name, at)
}

// Sender caches the permission to send messages to an entity, as long as nothing relevant has changed. The zero value
// is empty.
type Sender struct {
	may              *Rights
	granted, changed uint64 // generations of permissions and of tokens
	status           uint64 // of statuses
	directory        uint64 // of names
	ends             int64
	topics           bool // some routing keys are not permitted
}

// Check checks a message sent to an entity on a link with the given address, and returns the exchange. Errors: as At
// and MaySend.
func (s *Sender) Check(a *Access, address string, exchange, key []byte) (*topology.Exchange, error) {
	v := a.Login.VHost
	if s.may == nil || s.granted != s.may.Permissions.Generation() || s.directory != v.Generation() || s.status != a.Statuses.Generation() || a.Tokens != nil && s.changed != a.Tokens.Generation() ||
		s.ends != grants.Never && a.Clock.Real().Now().Floor() >= s.ends {
		if err := s.look(a, address, exchange, key); err != nil {
			s.may = nil
			return nil, err
		}
	}
	x := v.Directory().Exchange(exchange)
	switch {
	case x == nil:
		return nil, protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", exchange, v.Name)
	case s.topics:
		return x, s.may.Topics(x, key, nil)
	}
	return x, nil
}

// UserID checks the user-id of a checked message.
func (s *Sender) UserID(name []byte) error { return s.may.UserID(name) }

func (s *Sender) look(a *Access, address string, exchange, key []byte) error {
	s.ends = grants.Never
	if a.Tokens != nil {
		s.changed = a.Tokens.Generation()
		if g := a.Tokens.At(address); g != nil {
			s.ends = g.Ends
		}
	}
	s.status = a.Statuses.Generation()
	s.directory, s.granted = a.Login.VHost.Generation(), a.Login.Permissions.Generation()
	may, err := a.RightsAt(address)
	if err != nil {
		return err
	}
	name := string(exchange)
	if name == "" {
		name = string(key)
	}
	if _, _, err := may.MaySend(name); err != nil {
		return err
	}
	s.may, s.topics = may, false
	if x := may.VHost.Directory().Exchange(exchange); x != nil {
		s.topics = may.HasTopics(x)
	}
	return nil
}
