package incoming

import (
	"candlemark/actors/client/routing"
	"candlemark/internal/routing/topology"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol/amqp10"
)

// delay gives the message the headers for the delay in its annotations (DLY-16): x-delay for a delayed exchange, which
// knows no dates; x-delay and x-deliver-at for others.
func (d *Publish) delay(routes *routing.RouteCache) error {
	after, date, ahead := d.Content.Delay.After, d.Content.Delay.Date, int64(0)
	if date != 0 {
		ahead = routes.Ahead(date)
	}
	switch {
	case max(after, ahead) > timeheaders.MaxDelay:
		return dialect.ErrTooFar()
	case after <= 0 && ahead <= 0:
		return nil
	case d.To.Delayed():
		after, date = max(after, ahead), 0
	case ahead <= 0:
		date = 0
	}
	d.delayed = true
	err := d.Content.DelayBy(after, date)
	d.Message.Header = d.Content.Header
	return err
}

// CheckTimes refuses a message with an invalid time in its headers (DLY-10, TTL-6), and one with a delay in its
// annotations if a queue on its route would deliver it at once (DLY-16).
func (d *Publish) CheckTimes(targets []*routing.Target, routes *routing.RouteCache) error {
	if d.Content.Headers == nil {
		return nil
	}
	for _, t := range targets {
		if d.delayed && !holds(t.Queue) {
			return amqp10.Errorf(amqp10.NotAllowed, "queue '%s' does not accept delayed messages: set delayed-messages to true", t.Queue.Name)
		}
	}
	return routes.CheckMoments(targets, d.Content.Headers)
}

// holds reports whether a queue keeps messages until they are due.
func holds(q *topology.Queue) bool {
	m := q.Schedules.Config()
	return q.Holds() || m != nil && m.Schedules
}
