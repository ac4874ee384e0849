package session

import (
	"cmp"

	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// long is a search for a route that exceeds a turn. It runs on its own goroutine. All input after the publish waits for
// it, so that order is kept.
type long struct {
	*topology.Long
	debt message.Debt // credit charged for the waiting message
}

// resumeWork: a turn ended before all input was processed.
type resumeWork struct{}

// mustRest ends the turn if it has reached its limit; parked input is processed in another one.
func (s *state) mustRest() bool {
	if s.routes.Steps() < topology.TurnSteps {
		return false
	}
	s.flush()
	if !s.resting {
		s.resting = true
		s.Send(s.Self(), resumeWork{})
	}
	return true
}

// routeLong starts the search for the route of a message, which is published when the search ends.
func (s *state) routeLong(routed *delivery) {
	d := new(*routed)
	d.Message.Own()
	d.Content.Headers = nil
	if scan, err := protocol.ScanProperties(d.Message.Header); err == nil {
		d.Content.Headers = scan.Headers
	}
	l := &long{Long: s.routes.Long(d.To, &d.Message, d.Keys, d.Content.Headers)}
	l.debt.Owe(s.cfg.Gate, d.Message.Size())
	s.long = l
	s.beside(l.find, func(reply any, err error) {
		s.long.stop()
		s.long = nil
		if err != nil {
			s.refuse(d, err)
			return
		}
		found := reply.(topology.LongRoute)
		s.routed(d, s.routes.Aim(d.To, d.Message.RoutingKey, d.Keys, found.Queues, found.Histories, found.Caps))
		s.flush()
	})
}

// find runs on the goroutine of the search. The result of a stopped search is ignored.
func (l *long) find() (any, error) {
	route, _ := l.Find()
	return route, cmp.Or(route.Err, route.Refusal)
}

// stop ends the search for a route, if there is one.
func (l *long) stop() {
	if l != nil {
		l.Stop()
		l.debt.Settle()
	}
}
