package queues

import (
	"cmp"

	"candlemark/actors/client/input"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/trace"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"

	"github.com/rs/zerolog"
)

// Config configures a Side.
type Config struct {
	Input   *input.Input
	Rights  *rights.Rights
	Gate    *message.Gate
	Objects *budget.Holder // of the connection; nil for no limit
	Copies  *budget.Copies // permits messages for several queues while publishers wait; nil for no limit
	// Connection is the connection, By the client.
	Connection mail.Address
	By         *events.Origin
	Origin     trace.Origin
	Log        zerolog.Logger
}

// Side is the side of a channel or session that faces queues.
type Side struct {
	Peers   peers.QueueLinks
	Routes  *routing.RouteCache
	Batches routing.Batches
	Tracer  trace.Tracer
	Unacked unacked.Deliveries
	Counts  mail.Counts
	// Published are further figures of published messages.
	Published metrics.Published
	Long      *routing.Wait // the publish that waits, nil for none

	in     *input.Input
	gate   *message.Gate
	copies *budget.Copies
}

// Init initialises the side, which must not be copied.
func (s *Side) Init(c Config) {
	out, user := c.Input.Out, c.Rights.User
	s.in, s.gate, s.copies = c.Input, c.Gate, c.Copies
	s.Peers = peers.New(out, c.Objects)
	s.Batches = routing.NewBatches(out, &s.Peers, &mail.Publisher{User: user.Name, Tags: user.Tags, Connection: c.Connection, Origin: c.By}, c.Gate)
	s.Routes = routing.NewRoutes(c.Rights, &s.Batches)
	s.Tracer = trace.Tracer{Origin: c.Origin, VHost: c.Rights.VHost, Routes: s.Routes, Batches: &s.Batches, Log: c.Log}
	s.Unacked = unacked.New(out)
}

// BeginRead prepares for the frames of a read.
func (s *Side) BeginRead() {
	s.Routes.BeginRead(s.in.Used.Floor())
	s.Tracer.On = s.Tracer.VHost.Tracing()
}

// Flush sends the turn's publishes and settlements to queues.
func (s *Side) Flush() {
	s.Routes.FlushAll()
	s.Unacked.Flush()
}

// Request returns the Request of a command, for whose answer input waits; done, unless nil, is called with it. Batches for
// queues are sent first, so that they arrive before the command (PRO-5).
func (s *Side) Request(done func(reply any, err error)) mail.Request {
	s.Flush()
	return s.in.Await(done)
}

// Gone calls ended if a queue that is known has ended and all its mail was handled (peers.QueueLinks.Gone).
func (s *Side) Gone(who mail.Address, ended func(p *peers.QueueLink)) {
	if p := s.Peers.Gone(who); p != nil {
		ended(p)
	}
}

// Figures returns the counts so far, with settlements, and the further figures of published messages.
func (s *Side) Figures() (mail.Counts, *metrics.Published) {
	c := s.Counts
	c.Ack += s.Unacked.Acked()
	return c, &s.Published
}

// MustRest ends the turn if it has reached its limit (topology.TurnSteps).
func (s *Side) MustRest() bool {
	if s.Routes.Steps() < topology.TurnSteps {
		return false
	}
	s.Rest()
	return true
}

// Rest ends the turn; parked input is processed in another one.
func (s *Side) Rest() {
	s.Flush()
	s.in.Rest()
}

// Beside runs work on its own goroutine, and calls done with the result; all later input waits, without time limit.
func (s *Side) Beside(work func() (any, error), done func(reply any, err error)) {
	id := s.Request(done).ID
	s.in.Patient()
	s.in.Go(id, work)
}

// Routed counts the targets of a message whose route has been found, for the exchange and for the turn.
func (s *Side) Routed(x *topology.Exchange, targets int) {
	s.Routes.Count(targets)
	s.Routes.Routed(x, targets)
}

// Trace copies a message that was routed to targets to the trace exchange, if the virtual host is traced.
func (s *Side) Trace(m *message.Message, targets []*routing.Target) {
	if s.Tracer.On {
		s.Tracer.Published(m, targets, s.in.Chunk)
	}
}

// Publish sends a message, found in the read being run unless it is Owned, to its targets and histories, with the limits of their TTLs.
func (s *Side) Publish(m *message.Message, targets, histories []*routing.Target, caps []int64, confirm bool) {
	s.Counts.Publish++
	s.Published.Count(len(m.Body), len(targets), confirm)
	s.Batches.Publish(m, targets, histories, caps, s.in.Chunk)
}

// MustAsk reports whether the copies of a message for these targets need permission (WhenPermitted).
func (s *Side) MustAsk(targets []*routing.Target, m *message.Message) bool {
	return routing.Multiplies(targets, m) && routing.MustAsk(s.copies, s.gate)
}

// WhenPermitted calls then when that many copies may be made, perhaps at once; until then all input waits, and bytes are charged, unless 0.
func (s *Side) WhenPermitted(copies, bytes int, then func()) {
	if copies <= 0 || routing.MayCopy(s.copies, s.gate, copies) {
		then()
		return
	}
	if bytes > 0 {
		s.Long = &routing.Wait{}
		s.Long.Debt.Add(s.gate, bytes)
	}
	id := s.Request(func(any, error) {
		s.StopWaiting()
		s.WhenPermitted(copies, bytes, then)
	}).ID
	s.in.Patient()
	s.copies.Await(s.in.Answerer(id))
}

// Search continues the search for a route that is longer than a turn on its own goroutine, and calls done with the result. Until
// then all input waits, and bytes are charged.
func (s *Side) Search(long *topology.Long, bytes int, done func(route topology.LongRoute, err error)) {
	l := &routing.Wait{Long: long}
	l.Debt.Add(s.gate, bytes)
	s.Beside(func() (any, error) {
		route, _ := l.Find() // the result of a stopped search is ignored
		return route, cmp.Or(route.Err, route.Refusal)
	}, func(reply any, err error) {
		s.StopWaiting()
		route, _ := reply.(topology.LongRoute)
		done(route, err)
	})
	s.Long = l
}

// StopWaiting ends the wait of a publish, if there is one, and returns its credit.
func (s *Side) StopWaiting() {
	s.Long.Stop()
	s.Long = nil
}

// Release releases the messages that have not been sent, at the end.
func (s *Side) Release() {
	s.Peers.Unwatch()
	s.StopWaiting()
	s.Batches.Release()
}

// Settle settles a range of deliveries and uses the room that this leaves under the common limit. The settlements are sent to the
// queues ahead of other mail, so that later offers include requeued messages.
func (s *Side) Settle(first, last uint64, how mail.Settlement) {
	s.Unacked.SettleRange(first, last, how)
	if s.Unacked.Limit.Waiting() {
		s.Flush()
	}
	s.Unacked.Limit.Allow()
}

// TraceDeliveries traces deliveries of a queue, whose headers headerOf returns.
func (s *Side) TraceDeliveries(queue string, items []mail.Delivery, headerOf func(*mail.Delivery) []byte) {
	for i := range items {
		d := &items[i]
		s.Tracer.Delivered(queue, &d.Message, headerOf(d), d.Redelivered)
	}
	s.Flush()
}
