package incoming

import (
	"strings"

	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/access"
	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol/amqp10"
)

// checks are the checks of a message that depend on the dialect of its link.
type checks interface {
	// read decodes a message.
	read(to *Target, payload []byte) (dialect.Content, error)
	// route finds the exchange of a message, and its further routing keys. Errors: as Publish.Check.
	route(d *Publish, to *Target, routes *routing.RouteCache, a *access.Access) error
	// userID checks the user-id of a message.
	userID(name []byte, a *access.Access) error
}

// rabbitMQ are the checks of RabbitMQ's dialect.
type rabbitMQ struct{}

func (rabbitMQ) read(to *Target, payload []byte) (c dialect.Content, err error) {
	c, err = to.Reader.Read(payload, false)
	switch {
	case err != nil || c.BadCC == nil:
		return c, err
	case to.Anonymous:
		return c, c.BadCC
	}
	return c, &LinkError{c.BadCC}
}

func (rabbitMQ) route(d *Publish, to *Target, routes *routing.RouteCache, a *access.Access) error {
	c, m := &d.Content, &d.Message
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
	return nil
}

func (rabbitMQ) userID(name []byte, a *access.Access) error {
	if err := a.Login.UserID(name); err != nil {
		return &amqp10.Error{Condition: amqp10.UnauthorizedAccess, Description: dialect.ErrorOf(err).Description}
	}
	return nil
}

// entity are the checks of messages to an entity of Azure Service Bus, which ignores carbon copies.
type entity struct {
	address string
	may     access.Sender
}

func (e *entity) read(to *Target, payload []byte) (dialect.Content, error) {
	return to.Reader.Read(payload, true)
}

func (e *entity) route(d *Publish, to *Target, routes *routing.RouteCache, a *access.Access) (err error) {
	if d.To, err = e.may.Check(a, e.address, to.Exchange, to.Key); err != nil {
		return &LinkError{err}
	}
	routes.UseChecked(d.To)
	return nil
}

func (e *entity) userID(name []byte, _ *access.Access) error { return e.may.UserID(name) }
