package channel

import (
	"cmp"

	"candlemark/actors/client/channel/assembler"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// long is a search for a route that exceeds a turn, which runs on its own goroutine, or a publish for several queues that
// waits because publishers wait. All input after the publish waits for it, so that order is kept.
type long struct {
	*topology.Long // nil without a search
	id             uint64
	begun          bool
	debt           message.Charge // credit charged for the waiting message
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
	if copies <= 0 || mayCopyNow(&s.cfg, copies) {
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
	s.long.debt.Add(s.cfg.Gate, kept.Size())
	self, post := s.Self(), s.cfg.Post
	s.cfg.Copies.Await(func() { post(self, mayCopy{id}) })
}

// mustAsk reports whether publishes for several queues need permission: publishers wait, or many are in transit.
func mustAsk(c *Config) bool { return c.Copies != nil && (c.Copies.Held() || !c.Gate.CopiesOpen()) }

// mayCopyNow takes permission for that many copies, if it is needed; false: not now.
func mayCopyNow(c *Config, copies int) bool {
	return !mustAsk(c) || c.Gate.CopiesOpen() && c.Copies.Ask(copies)
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
	l := &long{Long: s.routes.Long(x, kept, more, headers)}
	l.debt.Add(s.cfg.Gate, kept.Size())
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

// stop ends the search for a route, if there is one.
func (l *long) stop() {
	if l == nil {
		return
	}
	if l.Long != nil {
		l.Stop()
	}
	l.debt.Release()
}
