package incoming

import (
	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/access"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol"
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
	if d.Content, err = to.checks.read(to, payload); err != nil {
		return err
	}
	m.Exchange, m.RoutingKey = to.Exchange, to.Key
	m.Header, m.Body, m.TTL, m.Priority = c.Header, c.Body, c.TTL, c.Priority
	if err := to.checks.route(d, to, routes, a); err != nil {
		return err
	}
	if err := d.delay(routes); err != nil {
		return err
	}
	if d.To.Name == topology.AdminExchange {
		if err := command(m, a.Login); err != nil {
			return err
		}
	}
	if c.HasUserID {
		return to.checks.userID(c.UserID, a)
	}
	return nil
}

// Find returns the targets of a checked message. Errors and validity: as routing.Routes.Find.
func (d *Publish) Find(to *Target, routes *routing.RouteCache) ([]*routing.Target, error) {
	if to.holder != nil {
		return routes.ToHolder(d.To, to.holder), nil
	}
	return routes.Find(d.To, &d.Message, d.Keys, d.Content.Headers)
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
