package incoming

import (
	"strings"

	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/access"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Publish is a message that is being published.
type Publish struct {
	Content dialect.Content
	Message message.Message
	To      *topology.Exchange
	Keys    [][]byte // further routing keys
	// Refused is the error for a message that was dropped when it arrived, nil for others.
	Refused error
	delayed bool // it must be held until it is due
}

// LinkError is an error that applies to all messages of a link with a fixed target.
type LinkError struct{ error }

// Unwrap returns the error that has the condition.
func (e *LinkError) Unwrap() error { return e.error }

// Check makes all checks of a message, and finds its exchange. Errors: *amqp10.Error and *protocol.ChannelError,
// possibly in a *LinkError.
func (d *Publish) Check(to *Target, payload []byte, routes *routing.RouteCache, a *access.Access) (err error) {
	if d.Refused != nil {
		return d.Refused
	}
	c, m := &d.Content, &d.Message
	if d.Content, err = to.Reader.Read(payload, to.Entity); err != nil {
		return err
	}
	if c.BadCC != nil && !to.Entity {
		if to.Anonymous {
			return c.BadCC
		}
		return &LinkError{c.BadCC}
	}
	m.Exchange, m.RoutingKey = to.Exchange, to.Key
	m.Header, m.Body, m.TTL, m.Priority = c.Header, c.Body, c.TTL, c.Priority
	if to.Entity {
		return d.checkEntity(to, routes, a)
	}
	if to.Anonymous {
		t, err := dialect.ParseTarget(c.To)
		switch {
		case err != nil && c.To == "":
			return amqp10.Errorf(amqp10.PreconditionFailed, "anonymous terminus requires 'to' address to be set")
		case err != nil:
			return amqp10.Errorf(amqp10.PreconditionFailed, "bad 'to' address string: %s", strings.ToValidUTF8(c.To[:min(len(c.To), 255)], ""))
		}
		m.Exchange, m.RoutingKey = []byte(t.Exchange), []byte(t.Key)
	}
	x, topics, err := routes.Exchange(m.Exchange)
	if err != nil {
		return &LinkError{err}
	}
	d.To = x
	if len(c.CC) > 0 {
		m.Overlay = &message.Overlay{CC: c.CC}
		for _, key := range c.CC {
			d.Keys = append(d.Keys, []byte(key))
		}
	}
	if topics {
		if err := a.Login.Topics(x, m.RoutingKey, d.Keys); err != nil {
			return &LinkError{err}
		}
	}
	return d.checkRest(func(name []byte) error {
		if err := a.Login.UserID(name); err != nil {
			return &amqp10.Error{Condition: amqp10.UnauthorizedAccess, Description: dialect.ErrorOf(err).Description}
		}
		return nil
	}, routes, a)
}

// Find returns the targets of a checked message. Errors and validity: as routing.Routes.Find.
func (d *Publish) Find(to *Target, routes *routing.RouteCache) ([]*routing.Target, error) {
	if to.holder != nil {
		return routes.ToHolder(d.To, to.holder), nil
	}
	return routes.Find(d.To, &d.Message, d.Keys, d.Content.Headers)
}

// checkEntity makes the checks of a message to an entity, which ignores carbon copies.
func (d *Publish) checkEntity(to *Target, routes *routing.RouteCache, a *access.Access) (err error) {
	if d.To, err = to.may.Check(a, to.Address, to.Exchange, to.Key); err != nil {
		return &LinkError{err}
	}
	routes.UseChecked(d.To)
	return d.checkRest(to.may.UserID, routes, a)
}

// checkRest makes the checks of a single message.
func (d *Publish) checkRest(userID func([]byte) error, routes *routing.RouteCache, a *access.Access) error {
	if err := d.delay(routes); err != nil {
		return err
	}
	if d.To.Name == topology.AdminExchange {
		if err := command(&d.Message, a.Login); err != nil {
			return err
		}
	}
	if d.Content.HasUserID {
		return userID(d.Content.UserID)
	}
	return nil
}

// command checks that the client may publish an admin command.
func command(m *message.Message, may *rights.Rights) error {
	if err := may.Command(m.RoutingKey); err != nil {
		return err
	}
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil {
		return err
	}
	return may.Answer(scan.ReplyTo)
}
