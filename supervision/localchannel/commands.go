package localchannel

import (
	"context"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
	"candlemark/supervision/ask"
)

// Config configures commands.
type Config struct {
	Asker       *ask.Asker
	VHosts      *topology.VHosts
	Permissions auth.Permissions
	// Spawn starts a channel actor. It fails when the broker is stopping, or with ctx.
	Spawn func(ctx context.Context, spec connection.ChannelSpec) (mail.Address, error)
}

// Commands implements management.Commands.
type Commands struct{ cfg Config }

// New makes the commands of one broker.
func New(cfg Config) *Commands { return &Commands{cfg} }

// Run implements management.Commands.
func (c *Commands) Run(ctx context.Context, by auth.User, vhost string, m protocol.Method) (protocol.Method, error) {
	w, err := c.open(ctx, by, vhost, c.cfg.Permissions)
	if err != nil {
		return nil, err
	}
	defer w.leave(ctx)
	w.method(m)
	return w.next(ctx)
}

// The cost of a message that was got besides its body, in bytes: of itself and its names, and of each byte of its
// properties, which are decoded.
const (
	messageCost    = 1 << 10
	propertiesCost = 8
)

// Get implements management.Commands.
func (c *Commands) Get(ctx context.Context, by auth.User, vhost, queue string, how management.Fetch) ([]management.Fetched, error) {
	w, err := c.open(ctx, by, vhost, c.cfg.Permissions)
	if err != nil {
		return nil, err
	}
	defer w.leave(ctx)
	list := []management.Fetched{}
	for bytes := 0; len(list) < how.Count && (bytes < how.MaxBytes || bytes == 0); {
		w.method(&protocol.BasicGet{Queue: queue, NoAck: !how.Keep && !how.Discard})
		m, err := w.next(ctx)
		if err != nil {
			return nil, err
		}
		ok, found := m.(*protocol.BasicGetOk)
		if !found {
			break
		}
		one := management.Fetched{BasicGetOk: *ok}
		if one.Properties, one.Body, err = w.content(ctx); err != nil {
			return nil, err
		}
		bytes += messageCost + propertiesCost*w.properties + len(one.Body)
		list = append(list, one)
	}
	if how.Discard {
		w.method(&protocol.BasicNack{Multiple: true})
	}
	return list, nil // messages to be kept are requeued when the channel ends
}

// Publish implements management.Commands.
func (c *Commands) Publish(ctx context.Context, by auth.User, vhost string, p management.Publication) (routed, refused bool, err error) {
	w, err := c.open(ctx, by, vhost, c.cfg.Permissions)
	if err != nil {
		return false, false, err
	}
	defer w.leave(ctx)
	b := protocol.AppendMethodFrame(nil, number, &protocol.ConfirmSelect{NoWait: true})
	b = protocol.AppendMethodFrame(b, number, &protocol.BasicPublish{Exchange: p.Exchange, RoutingKey: p.RoutingKey, Mandatory: true})
	b = protocol.AppendHeaderFrame(b, number, uint64(len(p.Body)), p.Properties.Append(nil))
	w.send(protocol.AppendBodyFrames(b, number, p.Body, 0))
	routed = true
	for {
		m, err := w.next(ctx)
		if err != nil {
			return false, false, err
		}
		switch m.(type) {
		case *protocol.BasicReturn:
			routed = false
			if _, _, err := w.content(ctx); err != nil {
				return false, false, err
			}
		case *protocol.BasicNack:
			return false, true, nil
		case *protocol.BasicAck:
			return routed, false, nil
		}
	}
}
