package move

import (
	"sync/atomic"
	"time"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"

	"github.com/asynkron/protoactor-go/actor"
)

// Config configures a move.
type Config struct {
	Job
	Clock  *clock.Clock
	Handle *Handle
}

// Handle is the public view of a move. It is created by NewHandle.
type Handle struct {
	status atomic.Pointer[Status]
	ended  chan struct{}
}

// NewHandle returns the handle of a move that is about to be spawned.
func NewHandle() *Handle {
	h := &Handle{ended: make(chan struct{})}
	h.status.Store(&Status{Phase: Running})
	return h
}

// Status returns the current status.
func (h *Handle) Status() Status { return *h.status.Load() }

// Ended returns a channel that is closed when the move is over.
func (h *Handle) Ended() <-chan struct{} { return h.ended }

// Stop asks a move to end after the current batch, or before the messages of it that wait for permission to be copied.
type Stop struct{}

type (
	again struct{}
	tick  struct{}
)

// move is the shell.
type move struct {
	cfg     Config
	state   state
	timer   *clock.Wait
	watched map[string]mail.Address
	over    bool
}

// New returns the actor. It stops by itself when the move is over.
func New(cfg Config) actor.Actor { return &move{cfg: cfg, watched: map[string]mail.Address{}} }

// Receive handles one mail.
func (x *move) Receive(ctx actor.Context) {
	now, s := x.cfg.Clock.Now(), &x.state
	s.apart = clock.Instant(x.cfg.Clock.Apart())
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.begin(x.cfg.Job, ctx.Self(), now)
	case *mail.ClaimReply:
		s.claimed(m, now)
	case *mail.SettleReply:
		s.settledAll(m.Failure(), now)
	case *mail.EnqueueReply:
		s.enqueued(m, now)
	case *actor.Terminated:
		delete(x.watched, m.Who.Id)
		s.gone(m.Who, now)
	case again:
		s.again(now)
	case tick:
		s.tick(now)
	case Stop:
		s.stop(now)
	case *actor.Stopping, *actor.Restarting:
		if s.status.Phase == Running {
			s.end(Failed, "the move ended when the broker stopped or failed", now)
		}
		x.leave(ctx)
	case mail.Answerable: // a query to holders of deliveries: a move has no delivery tags
		actorlib.AnswerAll(ctx, []any{m}, mail.Gone)
	}
	x.carryOut(ctx)
}

func (x *move) carryOut(ctx actor.Context) {
	s := &x.state
	status := s.status
	x.cfg.Handle.status.Store(&status)
	for _, w := range s.out.watch {
		if x.watched[w.GetId()] == nil {
			x.watched[w.GetId()] = w
			actorlib.Watch(ctx, w)
		}
	}
	for _, p := range s.out.Posts {
		actorlib.Send(ctx, p.To, p.Mail)
	}
	self, root := ctx.Self(), ctx.ActorSystem().Root
	if s.out.again {
		ctx.Send(self, again{})
	}
	if s.out.await {
		x.cfg.Copies.Await(func() { root.Send(self, again{}) })
	}
	if ms := s.out.wait; ms > 0 {
		x.timer = x.cfg.Clock.After(time.Duration(ms)*time.Millisecond, func() { root.Send(self, tick{}) })
	}
	if s.out.ended && !x.over {
		x.over = true
		close(x.cfg.Handle.ended)
		ctx.Stop(self)
	}
	s.out = outcome{}
}

// leave ends work in progress.
func (x *move) leave(ctx actor.Context) {
	if x.timer != nil {
		x.timer.Stop()
	}
	for _, w := range x.watched {
		actorlib.Unwatch(ctx, w)
	}
}
