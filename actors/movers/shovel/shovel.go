package shovel

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/parameters"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a shovel.
type Config struct {
	Work *parameters.ShovelSpec
	// Dial connects to the broker of an address, without encryption. direct: it is this broker, by a connection that
	// needs none; its user is decided there. checked: the user-ids of all messages to be published were checked before.
	Dial func(ctx context.Context, to *parameters.URI, checked bool) (conn net.Conn, direct bool, err error)
	// Allowed returns why the shovel must not run, nil if it may; Changed returns a channel that is closed before the
	// answer changes. A session ends when Allowed returns an error (ACC-4).
	Allowed func() error
	Changed func() <-chan struct{}
	// Read reads a file that an address names (ACC-5). It returns soon after ctx has ended.
	Read func(ctx context.Context, name string) ([]byte, error)
	// Cluster is the name of this broker, for headers.
	Cluster func() string
	// MaxMessage is the maximum size of a body, in bytes.
	MaxMessage uint64
	Clock      *clock.Clock
	Log        zerolog.Logger
	Handle     *Handle
	// After is closed when the shovel's predecessor has closed its connections; nil for none.
	After <-chan struct{}
	// Finished is called when all messages to be moved are moved.
	Finished func()
}

// Handle is the public view of a shovel. It is created by NewHandle.
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

// counts are the counts of the current session.
type counts struct {
	forwarded, pending, toTake, toMove atomic.Int64
}

// Counts are the progress of a shovel.
type Counts struct {
	Forwarded int64 // since the shovel's start
	Pending   int64 // published and not confirmed
	// ToTake and ToMove are the numbers of messages still to be taken from the source and to be moved; negative for no
	// limit.
	ToTake, ToMove int64
}

// NewHandle returns the handle of a shovel that is about to be spawned.
func NewHandle() *Handle {
	h := &Handle{left: make(chan struct{})}
	h.ctx, h.end = context.WithCancel(context.Background())
	h.status.Store(&Status{Phase: Starting})
	h.toTake.Store(-1)
	h.toMove.Store(-1)
	return h
}

// Status returns the current status.
func (h *Handle) Status() Status { return *h.status.Load() }

// Counts returns the current counts.
func (h *Handle) Counts() Counts {
	return Counts{Forwarded: h.forwarded.Load(), Pending: h.pending.Load(), ToTake: h.toTake.Load(), ToMove: h.toMove.Load()}
}

// Left returns a channel that is closed when the shovel's connections are finally closed, after End.
func (h *Handle) Left() <-chan struct{} { return h.left }

// End ends the current session, and prevents further ones.
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

// begin runs a session on a goroutine, unless the shovel has ended.
func (h *Handle) begin(run func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.sessions.Go(run)
	}
}

// Mail from sessions and timers.
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

// New returns the actor.
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
		s.cfg.Log.Info().Msg("shovel finished")
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

// begin starts a session, which sends its result as mail.
func (s *shovel) begin(ctx actor.Context) {
	within, cancel := context.WithCancel(s.cfg.Handle.ctx)
	s.cancel = cancel
	self, root, number := ctx.Self(), ctx.ActorSystem().Root, s.state.session
	x := &session{
		Config: &s.cfg, ctx: within, number: number,
		report: func(what any) { root.Send(self, what) },
	}
	s.cfg.Handle.begin(func() {
		defer cancel()
		if after := s.cfg.After; after != nil {
			<-after // does not take long, as closing connections has a deadline
		}
		x.report(&ended{number, x.run()})
	})
}

// leave ends the current session.
func (s *shovel) leave() {
	s.cancel()
	if s.timer != nil {
		s.timer.Stop()
	}
}
