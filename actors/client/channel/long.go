package channel

import (
	"candlemark/actors/client/channel/assembler"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// publishLater makes a publish wait until it may have that many copies. It is routed then.
func publishLater(s *state, x *topology.Exchange, m *message.Message, more [][]byte, mandatory bool, copies int) {
	kept, headers := keep(m)
	later(s, kept, copies, func() error {
		targets, err := s.queues.Routes.Find(x, kept, more, headers)
		if err != nil {
			return err
		}
		if s.queues.Routes.Over() {
			s.routeLong(x, kept, more, mandatory)
			return nil
		}
		return s.routed(x, targets, kept, headers, mandatory)
	})
}

// later calls then when a message that is kept meanwhile may have that many copies; all input waits.
func later(s *state, kept *message.Message, copies int, then func() error) {
	s.queues.WhenPermitted(copies, kept.Size(), func() {
		if err := then(); err != nil {
			s.fail(assembler.Blame(err), nil)
		}
		s.queues.Flush()
	})
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
	s.queues.Search(s.queues.Routes.Long(x, kept, more, headers), kept.Size(), func(found topology.LongRoute, err error) {
		if err != nil {
			s.fail(assembler.Blame(err), nil)
			return
		}
		later(s, kept, topology.Copies(found.Queues, len(kept.Header)), func() error {
			targets := s.queues.Routes.SetTargets(x, kept.RoutingKey, more, found.Queues, found.Histories, found.Caps)
			return s.routed(x, targets, kept, headers, mandatory)
		})
	})
}
