package session10

import (
	"candlemark/actors/client/shell"
	"candlemark/actors/system/mail"

	"github.com/asynkron/protoactor-go/actor"
)

// Config configures a session.
type Config = config

// session is the shell.
type session struct {
	state
	timer shell.Guard
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
		shell.WatchOver(ctx, &s.Mail)
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
	shell.Send(ctx, &s.Mail)
	shell.WatchOver(ctx, &s.Mail)
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

// guard keeps a timer running while a request waits.
func (s *session) guard(ctx actor.Context) {
	var id uint64
	if s.await != nil && !s.await.patient {
		id = s.await.id
	}
	s.timer.Set(ctx, s.cfg.Clock, id, func(id uint64) any { return awaitExpired{id} })
}

// abort returns the credit of mail that will no longer be handled, including the mail that caused a panic. After a
// panic the watches of the queues and the connection report that the session is gone.
func (s *session) abort() {
	defer func() { _ = recover() }()
	s.timer.Stop()
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
	shell.Release(left, s.cfg.Post)
	s.long.Stop()
	s.long = nil
	s.dropBegun()
	s.dropHeld()
	s.batches.Release()
	s.unread.Close()
}
