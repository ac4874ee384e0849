package channel

import (
	"cmp"

	"candlemark/actors/channel/assembler"
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// long is a search for a route that exceeds a turn, which runs on its own goroutine, or a publish for several queues that
// waits because publishers wait. All input after the publish waits for it, so that order is kept.
type long struct {
	*topology.Long // nil without a search
	id             uint64
	begun          bool
	debt           message.Debt // credit charged for the waiting message
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

// mayCopy: a publish for several queues may ask again.
type mayCopy struct{ id uint64 }

// Number implements answer.
func (c mayCopy) Number() uint64 { return c.id }

// Failure implements answer.
func (mayCopy) Failure() error { return nil }

// publishLater makes a publish wait until it may have that many copies. It is routed then.
func publishLater(s *state, x *topology.Exchange, m *message.Message, more [][]byte, mandatory bool, copies int) {
	kept, headers := keep(m)
	s.long = &long{}
	s.long.debt.Owe(s.cfg.Gate, kept.Size())
	whenPermitted(s, copies, func() {
		s.long.stop()
		s.long = nil
		targets, err := s.routes.Find(x, kept, more, headers)
		switch {
		case err != nil:
		case s.routes.Over():
			s.routeLong(x, kept, more, mandatory)
		default:
			err = s.routed(x, targets, kept, headers, mandatory)
		}
		if err != nil {
			s.fail(assembler.Blame(err), nil)
		}
		s.flush()
	})
}

// mustAsk reports whether publishes for several queues need permission: publishers wait, or many are in transit.
func mustAsk(s *state) bool {
	return s.cfg.Copies != nil && (s.cfg.Copies.Held() || !s.cfg.Gate.CopiesOpen())
}

// whenPermitted calls then when that many copies may be made; all input waits.
func whenPermitted(s *state, copies int, then func()) {
	if !mustAsk(s) || s.cfg.Gate.CopiesOpen() && s.cfg.Copies.Ask(copies) {
		then()
		return
	}
	id := s.request(assembler.PublishMethod, func(any) { whenPermitted(s, copies, then) }).ID
	s.await.patient = true
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
	l := &long{Long: s.routes.Long(x, kept, more, headers)}
	l.debt.Owe(s.cfg.Gate, kept.Size())
	l.id = s.request(assembler.PublishMethod, func(reply any) {
		s.long.stop()
		s.long = nil
		found := reply.(longFound).route
		targets := s.routes.Aim(x, kept.RoutingKey, more, found.Queues, found.Histories, found.Caps)
		if err := s.routed(x, targets, kept, headers, mandatory); err != nil {
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
	if l == nil {
		return
	}
	if l.Long != nil {
		l.Stop()
	}
	l.debt.Settle()
}
