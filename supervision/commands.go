package supervision

import (
	"context"

	"candlemark/internal/auth"
	"candlemark/internal/httpapi"
	"candlemark/protocol"
)

// Run implements admin.Commands.
func (n *Node) Run(ctx context.Context, by auth.User, vhost string, m protocol.Method) (protocol.Method, error) {
	w, err := n.openLocalChannel(ctx, by, vhost)
	if err != nil {
		return nil, err
	}
	defer w.leave(ctx)
	w.method(m)
	return w.next(ctx)
}

// Get implements admin.Commands.
func (n *Node) Get(ctx context.Context, by auth.User, vhost, queue string, how httpapi.Fetch) ([]httpapi.Fetched, error) {
	w, err := n.openLocalChannel(ctx, by, vhost)
	if err != nil {
		return nil, err
	}
	defer w.leave(ctx)
	list := []httpapi.Fetched{}
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
		one := httpapi.Fetched{BasicGetOk: *ok}
		if one.Properties, one.Body, err = w.content(ctx); err != nil {
			return nil, err
		}
		bytes += len(one.Body)
		list = append(list, one)
	}
	if how.Discard {
		w.method(&protocol.BasicNack{Multiple: true})
	}
	return list, nil // what is to be kept goes back when the channel ends
}

// Publish implements admin.Commands.
func (n *Node) Publish(ctx context.Context, by auth.User, vhost string, p httpapi.Publication) (routed, refused bool, err error) {
	w, err := n.openLocalChannel(ctx, by, vhost)
	if err != nil {
		return false, false, err
	}
	defer w.leave(ctx)
	b := protocol.AppendMethodFrame(nil, visitChannel, &protocol.ConfirmSelect{NoWait: true})
	b = protocol.AppendMethodFrame(b, visitChannel, &protocol.BasicPublish{Exchange: p.Exchange, RoutingKey: p.RoutingKey, Mandatory: true})
	b = protocol.AppendHeaderFrame(b, visitChannel, uint64(len(p.Body)), p.Properties.Append(nil))
	w.send(protocol.AppendBodyFrames(b, visitChannel, p.Body, 0))
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
