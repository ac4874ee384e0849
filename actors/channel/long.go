package channel

import (
	"cmp"

	"candlemark/actors/channel/assembler"
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// long is a search for a route that exceeds a turn. It runs on its own goroutine. All input after the publish waits for
// it, so that order is kept.
type long struct {
	*topology.Long
	id    uint64
	begun bool
	debt  message.Debt // credit charged for the waiting message
}

// longFound is the result of the search.
type longFound struct {
	id    uint64
	route topology.LongRoute
}

// Number implements answer.
func (f longFound) Number() uint64 { return f.id }

// Failure implements answer.
func (f longFound) Failure() error {
	if err := cmp.Or(f.route.Err, f.route.Refusal); err != nil {
		return assembler.Blame(err)
	}
	return nil
}

// resumeWork: a turn ended before all input, or the end of a transaction, was processed.
type resumeWork struct{}

// rest ends the turn; parked input is processed in another one.
func (s *state) rest() {
	s.flush()
	s.chunk = nil
	if !s.resting {
		s.resting = true
		s.Send(s.Self(), resumeWork{})
	}
}

// routeLong starts the search for the route of a publish; the publish continues when the search ends.
func (s *state) routeLong(x *topology.Exchange, m *message.Message, more [][]byte, mandatory bool) {
	kept := *m
	kept.Own()
	var headers []byte
	if scan, err := protocol.ScanProperties(kept.Header); err == nil {
		headers = scan.Headers
	}
	l := &long{Long: s.routes.Long(x, &kept, more, headers)}
	l.debt.Owe(s.cfg.Gate, kept.Size())
	l.id = s.request(assembler.PublishMethod, func(reply any) {
		s.long.stop()
		s.long = nil
		found := reply.(longFound).route
		targets := s.routes.Aim(x, kept.RoutingKey, more, found.Queues, found.Histories, found.Caps)
		if err := s.routed(x, targets, &kept, headers, mandatory); err != nil {
			s.fail(assembler.Blame(err), nil)
		}
		s.flush()
	}).ID
	s.await.patient = true
	s.long = l
}

// find runs on the goroutine of the search.
func (l *long) find(self mail.Address, post func(mail.Address, any)) {
	if route, ok := l.Find(); ok {
		post(self, longFound{l.id, route})
	}
}

// stop ends the search for a route, if there is one.
func (l *long) stop() {
	if l != nil {
		l.Stop()
		l.debt.Settle()
	}
}
