package channel

import (
	"cmp"

	"candlemark/actors/client/channel/assembler"
	"candlemark/actors/client/routing"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// rest ends the turn; parked input is processed in another one.
func (s *state) rest() {
	s.flush()
	s.in.Rest()
}

// publishLater makes a publish wait until it may have that many copies. It is routed then.
func publishLater(s *state, x *topology.Exchange, m *message.Message, more [][]byte, mandatory bool, copies int) {
	kept, headers := keep(m)
	later(s, kept, copies, func() error {
		targets, err := s.routes.Find(x, kept, more, headers)
		if err != nil {
			return err
		}
		if s.routes.Over() {
			s.routeLong(x, kept, more, mandatory)
			return nil
		}
		return s.routed(x, targets, kept, headers, mandatory)
	})
}

// later calls then when a message that is kept meanwhile may have that many copies; all input waits.
func later(s *state, kept *message.Message, copies int, then func() error) {
	if copies <= 0 || routing.MayCopy(s.cfg.Copies, s.cfg.Gate, copies) {
		if err := then(); err != nil {
			s.fail(assembler.Blame(err), nil)
		}
		s.flush()
		return
	}
	id := s.request(assembler.PublishMethod, func(any) {
		s.long.Stop()
		s.long = nil
		later(s, kept, copies, then)
	}).ID
	s.in.Patient()
	s.long = &routing.Wait{}
	s.long.Debt.Add(s.cfg.Gate, kept.Size())
	s.cfg.Copies.Await(s.in.Answerer(id))
}

// keep returns a copy of a message that outlives the turn, and its headers.
func keep(m *message.Message) (kept *message.Message, headers []byte) {
	kept = new(*m)
	kept.Own()
	if scan, err := protocol.ScanProperties(kept.Header); err == nil {
		headers = scan.Headers
	}
	return kept, headers
}

// routeLong starts the search for the route of a publish; the publish continues when the search ends.
func (s *state) routeLong(x *topology.Exchange, m *message.Message, more [][]byte, mandatory bool) {
	kept, headers := keep(m)
	l := &routing.Wait{Long: s.routes.Long(x, kept, more, headers)}
	l.Debt.Add(s.cfg.Gate, kept.Size())
	id := s.request(assembler.PublishMethod, func(reply any) {
		s.long.Stop()
		s.long = nil
		found := reply.(topology.LongRoute)
		later(s, kept, topology.Copies(found.Queues, len(kept.Header)), func() error {
			targets := s.routes.SetTargets(x, kept.RoutingKey, more, found.Queues, found.Histories, found.Caps)
			return s.routed(x, targets, kept, headers, mandatory)
		})
	}).ID
	s.in.Patient()
	s.long = l
	s.in.Go(id, func() (any, error) {
		route, _ := l.Find() // the result of a stopped search is ignored
		if err := cmp.Or(route.Err, route.Refusal); err != nil {
			return nil, assembler.Blame(err)
		}
		return route, nil
	})
}
