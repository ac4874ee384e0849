package session10

import (
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// routeLong starts the search for the route of a message, which is published when the search ends.
func (s *publishing) routeLong(routed *transfer) {
	d := kept(routed)
	long := s.queues.Routes.Long(d.To, &d.Message, d.Keys, d.Content.Headers)
	s.queues.Search(long, d.Message.Size(), func(found topology.LongRoute, err error) {
		if err != nil {
			s.refuse(d, err)
			return
		}
		s.queues.WhenPermitted(topology.Copies(found.Queues, len(d.Message.Header)), d.Message.Size(), func() {
			s.routed(d, s.queues.Routes.SetTargets(d.To, d.Message.RoutingKey, d.Keys, found.Queues, found.Histories, found.Caps))
			s.queues.Flush()
		})
	})
}

// kept returns a copy of a delivery that outlives the turn.
func kept(d *transfer) *transfer {
	d = new(*d)
	d.Message.Own()
	d.Content.Headers = nil
	if scan, err := protocol.ScanProperties(d.Message.Header); err == nil {
		d.Content.Headers = scan.Headers
	}
	return d
}

// publishLater makes a message wait until it may have that many copies. It is routed then.
func (s *publishing) publishLater(routed *transfer, copies int) {
	d := kept(routed)
	s.queues.WhenPermitted(copies, d.Message.Size(), func() {
		targets, err := d.Find(&d.link.publisher.Target, s.queues.Routes)
		switch {
		case err != nil:
			s.refuse(d, err)
		case s.queues.Routes.Over():
			s.routeLong(d)
		default:
			s.routed(d, targets)
		}
		s.queues.Flush()
	})
}
