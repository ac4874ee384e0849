package session10

import (
	"cmp"

	"candlemark/actors/client/routing"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// routeLong starts the search for the route of a message, which is published when the search ends.
func (s *publishing) routeLong(routed *transfer) {
	d := kept(routed)
	l := &routing.Wait{Long: s.queues.routes.Long(d.To, &d.Message, d.Keys, d.Content.Headers)}
	l.Debt.Add(s.cfg.Gate, d.Message.Size())
	s.queues.long = l
	s.queues.runInBackground(func() (any, error) {
		route, _ := l.Find() // the result of a stopped search is ignored
		return route, cmp.Or(route.Err, route.Refusal)
	}, func(reply any, err error) {
		s.queues.dropLong()
		if err != nil {
			s.refuse(d, err)
			return
		}
		found := reply.(topology.LongRoute)
		s.queues.whenPermitted(topology.Copies(found.Queues, len(d.Message.Header)), d.Message.Size(), func() {
			s.routed(d, s.queues.routes.SetTargets(d.To, d.Message.RoutingKey, d.Keys, found.Queues, found.Histories, found.Caps))
			s.queues.flush()
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
	s.queues.whenPermitted(copies, d.Message.Size(), func() {
		targets, err := d.Find(&d.link.publisher.Target, s.queues.routes)
		switch {
		case err != nil:
			s.refuse(d, err)
		case s.queues.routes.Over():
			s.routeLong(d)
		default:
			s.routed(d, targets)
		}
		s.queues.flush()
	})
}
