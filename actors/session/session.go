package session

import (
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/auth"
	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/events"
	"candlemark/internal/message"
	"candlemark/internal/metrics"
	"candlemark/internal/outbox"
	"candlemark/internal/servicebus/grants"
	"candlemark/internal/servicebus/sas"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// answerTimeout is how long a request to a queue waits for its answer, of the time that the broker runs.
const answerTimeout = 30 * time.Second

// Config configures a session.
type Config struct {
	Channel        uint16 // number, in both directions
	Connection     *actor.PID
	ConnectionName string
	Node           string // name of the broker, as clients are told
	Outbox         *outbox.Outbox
	Gate           *message.Gate
	Arrivals       *budget.Arrivals // of the connection; nil for no bounds
	FrameMax       uint32           // bytes of the largest frame that the client takes
	// NextOutgoingID, IncomingWindow and HandleMax are of the client's begin.
	NextOutgoingID, IncomingWindow, HandleMax uint32

	VHost       *topology.VHost
	User        auth.User
	By          *events.Origin
	Events      *events.Hub // told of consumers; nil for nobody
	Permissions auth.Permissions
	// Token checks a token of Azure Service Bus and returns whose it is, and may take its time; nil if there are none.
	Token      func(text string) (auth.User, sas.Token, error)
	Tokens     *grants.Table // of the connection; nil for none
	MaxMessage uint64        // largest message in bytes, with its properties
	Clock      *clock.Clock
	Log        zerolog.Logger
	// Ended, unless nil, gets the virtual host and what the session has counted when it ends.
	Ended func(vhost string, counts mail.Counts, more *metrics.Published)
	// Post sends mail from any goroutine.
	Post func(to *actor.PID, what any)
	// Close closes the actor's mailbox and returns what is left in it.
	Close func() []any
}

// session is the shell.
type session struct {
	state
	timer *clock.Wait
	armed uint64 // number of the request that the timer guards
}

// awaitExpired: the request of that number got no answer in time.
type awaitExpired struct{ id uint64 }

// New makes the actor, which answers the client's begin when it is spawned. It must not be restarted.
func New(cfg Config) actor.Actor {
	s := &session{}
	s.init(cfg)
	return s
}

// Receive handles one mail.
func (s *session) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
		s.begin()
		s.carryOut(ctx)
	case *actor.Stopping, *actor.Restarting:
		s.abort()
		s.peers.Unwatch()
		s.watchOver(ctx)
	case *actor.Stopped:
	case *actor.Terminated:
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	default:
		s.handle(m)
		s.carryOut(ctx)
	}
}

// carryOut sends what the core decided, in order.
func (s *session) carryOut(ctx actor.Context) {
	for i, p := range s.out {
		ctx.Send(p.to, p.what)
		s.out[i] = post{}
	}
	s.out = s.out[:0]
	s.watchOver(ctx)
	for _, job := range s.jobs {
		go job()
	}
	s.jobs = nil
	if s.phase == ended {
		s.abort()
		ctx.Stop(ctx.Self())
		return
	}
	s.guard(ctx)
}

// watchOver begins and ends to watch queues.
func (s *session) watchOver(ctx actor.Context) {
	for _, w := range s.watch {
		ctx.Watch(w)
	}
	for _, w := range s.unwatch {
		mail.Unwatch(ctx, w)
	}
	s.watch, s.unwatch = s.watch[:0], nil
}

// guard keeps a timer running while a request waits.
func (s *session) guard(ctx actor.Context) {
	var id uint64
	if s.await != nil && !s.await.patient {
		id = s.await.id
	}
	if id == s.armed {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.armed = id; id != 0 {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		s.timer = s.cfg.Clock.After(answerTimeout, func() { root.Send(self, awaitExpired{id}) })
	}
}

// abort gives back the credit of what will not be handled any more, also of the
// mail that made the session panic. After a panic the queues learn from watching that the session is gone; the
// connection does too.
func (s *session) abort() {
	defer func() { _ = recover() }()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.phase = ended
	if s.cfg.Ended != nil {
		s.cfg.Ended(s.cfg.VHost.Name, s.counted(), &s.published)
		s.cfg.Ended = nil
	}
	left := s.cfg.Close()
	for _, m := range s.parked {
		left = append(left, m)
	}
	s.parked = nil
	if s.arriving != nil {
		left = append(left, s.arriving)
	}
	for _, m := range left {
		switch m := m.(type) {
		case *mail.Inbound:
			m.Chunk.Release()
			m.Chunk = nil
		case *mail.Deliver:
			m.Release()
		case *mail.Enqueue: // replies
			if to, reply := m.Answer(mail.Gone); to != nil {
				s.cfg.Post(to, reply)
			}
		}
	}
	s.long.stop()
	s.long = nil
	s.dropBegun()
	s.dropHeld()
	s.batches.Release()
}
