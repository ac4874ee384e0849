package session10

import (
	"time"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"

	"github.com/asynkron/protoactor-go/actor"
)

// answerTimeout is how long a request to a queue waits for its answer, not counting time while the machine sleeps.
const answerTimeout = 30 * time.Second

// Config configures a session.
type Config = config

// session is the shell.
type session struct {
	state
	timer *clock.Wait
	armed uint64 // number of the request that the timer guards
}

// awaitExpired: the request with this number was not answered in time.
type awaitExpired struct{ id uint64 }

// New returns the actor, which answers the client's begin when it is spawned. It must not be restarted.
func New(cfg Config) actor.Actor {
	s := &session{}
	s.init(cfg)
	return s
}

// Receive handles one mail.
func (s *session) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.Me = ctx.Self()
		startWork(&s.state)
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

// carryOut sends the mail of the turn, in order.
func (s *session) carryOut(ctx actor.Context) {
	s.attachments.count(&s.state)
	s.CarryOut(func(to mail.Address, what any) { actorlib.Send(ctx, to, what) })
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

// watchOver starts and ends watches of queues.
func (s *session) watchOver(ctx actor.Context) {
	s.WatchOver(func(who mail.Address) { actorlib.Watch(ctx, who) }, func(who mail.Address) { actorlib.Unwatch(ctx, who) })
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

// abort returns the credit of mail that will no longer be handled, including the mail that caused a panic. After a
// panic the watches of the queues and the connection report that the session is gone.
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
	left = append(left, s.parked...)
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
	s.unread.Close()
}
