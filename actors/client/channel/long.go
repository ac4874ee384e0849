package channel

import (
	"cmp"

	"candlemark/actors/client/channel/assembler"
	"candlemark/actors/client/routing"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// long is the publish that waits.
type long struct {
	routing.Wait
	id    uint64 // number of the request
	begun bool   // the search runs
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
	if !s.yielded {
		s.yielded = true
		s.Send(s.Self(), resumeWork{})
	}
}

// mayCopy: a publish for several queues may ask again.
type mayCopy struct{ id uint64 }

// Number implements answer.
func (c mayCopy) Number() uint64 { return c.id }

// Failure implements answer.
func (mayCopy) Failure() error { return nil }

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
		s.long.stop()
		s.long = nil
		later(s, kept, copies, then)
	}).ID
	s.await.patient = true
	s.long = &long{}
	s.long.Debt.Add(s.cfg.Gate, kept.Size())
	self, post := s.Self(), s.cfg.Post
	s.cfg.Copies.Await(func() { post(self, mayCopy{id}) })
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
	l := &long{Wait: routing.Wait{Long: s.routes.Long(x, kept, more, headers)}}
	l.Debt.Add(s.cfg.Gate, kept.Size())
	l.id = s.request(assembler.PublishMethod, func(reply any) {
		s.long.stop()
		s.long = nil
		found := reply.(longFound).route
		later(s, kept, topology.Copies(found.Queues, len(kept.Header)), func() error {
			targets := s.routes.SetTargets(x, kept.RoutingKey, more, found.Queues, found.Histories, found.Caps)
			return s.routed(x, targets, kept, headers, mandatory)
		})
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

// stop ends the wait, if there is one.
func (l *long) stop() {
	if l != nil {
		l.Stop()
	}
}
