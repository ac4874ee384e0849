package session10

import (
	"cmp"

	"candlemark/actors/client/routing"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// mustRest ends the turn if it has reached its limit; parked input is processed in another one.
func (s *state) mustRest() bool {
	if s.routes.Steps() < topology.TurnSteps {
		return false
	}
	s.flush()
	s.in.Rest()
	return true
}

// routeLong starts the search for the route of a message, which is published when the search ends.
func (s *state) routeLong(routed *transfer) {
	d := kept(routed)
	l := &routing.Wait{Long: s.routes.Long(d.To, &d.Message, d.Keys, d.Content.Headers)}
	l.Debt.Add(s.cfg.Gate, d.Message.Size())
	s.long = l
	s.runInBackground(func() (any, error) {
		route, _ := l.Find() // the result of a stopped search is ignored
		return route, cmp.Or(route.Err, route.Refusal)
	}, func(reply any, err error) {
		s.dropLong()
		if err != nil {
			s.refuse(d, err)
			return
		}
		found := reply.(topology.LongRoute)
		whenPermitted(s, topology.Copies(found.Queues, len(d.Message.Header)), d.Message.Size(), func() {
			s.routed(d, s.routes.SetTargets(d.To, d.Message.RoutingKey, d.Keys, found.Queues, found.Histories, found.Caps))
			s.flush()
		})
	})
}

// dropLong ends the wait of a publish, if there is one.
func (s *state) dropLong() {
	s.long.Stop()
	s.long = nil
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
func publishLater(s *state, routed *transfer, copies int) {
	d := kept(routed)
	whenPermitted(s, copies, d.Message.Size(), func() {
		targets, err := d.Find(&d.link.publisher.Target, s.routes)
		switch {
		case err != nil:
			s.refuse(d, err)
		case s.routes.Over():
			s.routeLong(d)
		default:
			s.routed(d, targets)
		}
		s.flush()
	})
}

// whenPermitted calls then when that many copies may be made; until then all input waits, and bytes are charged, unless 0.
func whenPermitted(s *state, copies, bytes int, then func()) {
	if copies <= 0 || routing.MayCopy(s.cfg.Copies, s.cfg.Gate, copies) {
		then()
		return
	}
	if bytes > 0 {
		s.long = &routing.Wait{}
		s.long.Debt.Add(s.cfg.Gate, bytes)
	}
	id := s.request(func(any, error) {
		s.dropLong()
		whenPermitted(s, copies, bytes, then)
	}).ID
	s.in.Patient()
	s.cfg.Copies.Await(s.in.Answerer(id))
}
