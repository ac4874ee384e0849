package shovel

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"candlemark/internal/clock"
	"candlemark/internal/parameters"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a shovel.
type Config struct {
	Work *parameters.Work
	// Dial connects to the broker of an address, and encrypts nothing.
	Dial func(ctx context.Context, to *parameters.URI) (net.Conn, error)
	// Cluster is the name of this broker, for headers.
	Cluster func() string
	// MaxMessage bounds the body of a message, in bytes.
	MaxMessage uint64
	Clock      *clock.Clock
	Log        zerolog.Logger
	Handle     *Handle
	// After is closed when the shovel whose place this one takes has left its connections; nil for none.
	After <-chan struct{}
	// Finished is called when everything is moved that was to be moved.
	Finished func()
}

// Handle shows a shovel to everybody. NewHandle makes it.
type Handle struct {
	status atomic.Pointer[Status]
	counts
	sessions sync.WaitGroup
	left     chan struct{}

	mu    sync.Mutex
	ended bool
	ctx   context.Context // of all sessions
	end   context.CancelFunc
}

// counts are those of the session that runs; what others are, too, of the shovel.
type counts struct {
	forwarded, pending, toTake, toMove atomic.Int64
}

// Counts say how far a shovel is.
type Counts struct {
	Forwarded int64 // since it was started
	Pending   int64 // published and not confirmed
	// ToTake and ToMove are how many messages are still to be taken from the source, and to be moved; negative without an end.
	ToTake, ToMove int64
}

// NewHandle makes that of a shovel that is about to be spawned.
func NewHandle() *Handle {
	h := &Handle{left: make(chan struct{})}
	h.ctx, h.end = context.WithCancel(context.Background())
	h.status.Store(&Status{Phase: Starting})
	h.toTake.Store(-1)
	h.toMove.Store(-1)
	return h
}

// Status is the present one.
func (h *Handle) Status() Status { return *h.status.Load() }

// Counts are the present ones.
func (h *Handle) Counts() Counts {
	return Counts{Forwarded: h.forwarded.Load(), Pending: h.pending.Load(), ToTake: h.toTake.Load(), ToMove: h.toMove.Load()}
}

// Left is closed when the shovel's connections are closed for good, behind End.
func (h *Handle) Left() <-chan struct{} { return h.left }

// End ends the session that runs, and there is none after it, whatever the actor does.
func (h *Handle) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.ended = true
	h.end()
	go func() {
		h.sessions.Wait()
		close(h.left)
	}()
}

// begin runs a session in a goroutine, unless the shovel has ended.
func (h *Handle) begin(run func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.sessions.Go(run)
	}
}

// What sessions and timers tell the actor.
type (
	connected struct {
		session  uint64
		from, to string
	}
	blocked struct {
		session uint64
		is      bool
	}
	ended struct {
		session uint64
		err     error
	}
	due struct{}
)

// shovel is the shell.
type shovel struct {
	cfg    Config
	state  state
	cancel context.CancelFunc // of the session
	timer  *clock.Wait
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	return &shovel{cfg: cfg, state: state{reconnect: cfg.Work.Reconnect}, cancel: func() {}}
}

// Receive handles one mail.
func (s *shovel) Receive(ctx actor.Context) {
	now := s.cfg.Clock.Now()
	switch m := ctx.Message().(type) {
	case *actor.Started, due:
		s.carryOut(ctx, s.state.due(now))
	case *connected:
		s.state.connected(now, m)
		s.cfg.Log.Info().Str("from", m.from).Str("to", m.to).Msg("shovel runs")
	case *blocked:
		s.state.blocked(m)
	case *ended:
		s.carryOut(ctx, s.state.ended(now, m))
	case *actor.Restarting, *actor.Stopping:
		s.leave()
	}
	status := s.state.status
	s.cfg.Handle.status.Store(&status)
}

func (s *shovel) carryOut(ctx actor.Context, a action) {
	switch {
	case a.begin:
		s.begin(ctx)
	case a.finish:
		s.cfg.Log.Info().Msg("shovel has moved everything")
		s.cfg.Finished()
	default:
		if s.state.status.Phase == Terminated {
			s.cfg.Log.Warn().Str("reason", s.state.status.Reason).Dur("pause", a.wait).Msg("shovel terminated")
		}
		if a.wait > 0 {
			self, root := ctx.Self(), ctx.ActorSystem().Root
			s.timer = s.cfg.Clock.After(a.wait, func() { root.Send(self, due{}) })
		}
	}
}

// begin starts a session, which mails what becomes of it.
func (s *shovel) begin(ctx actor.Context) {
	within, cancel := context.WithCancel(s.cfg.Handle.ctx)
	s.cancel = cancel
	self, root, number := ctx.Self(), ctx.ActorSystem().Root, s.state.session
	x := &session{
		Config: &s.cfg, ctx: within, number: number,
		tell: func(what any) { root.Send(self, what) },
	}
	s.cfg.Handle.begin(func() {
		defer cancel()
		if after := s.cfg.After; after != nil {
			<-after // which is soon: its farewells have a deadline
		}
		x.tell(&ended{number, x.run()})
	})
}

// leave ends what is under way.
func (s *shovel) leave() {
	s.cancel()
	if s.timer != nil {
		s.timer.Stop()
	}
}
