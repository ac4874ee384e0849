package shell

import (
	"candlemark/actors/client/input"
	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/requests"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"

	"github.com/asynkron/protoactor-go/actor"
)

// Core is a channel or session without its actor.
type Core interface {
	// Handle is one turn.
	Handle(m any)
	// Figures returns what the core has counted so far.
	Figures() (mail.Counts, *metrics.Published)
	// Left returns the direct replies being handled, nil for none, and Release releases the rest of what the core holds. Both may
	// be called several times.
	Left() *mail.Enqueue
	Release()
}

// Config configures an actor.
type Config struct {
	Clock *clock.Clock
	// Close closes the actor's mailbox and returns the mail left in it.
	Close func() []any
	// Ended is called once, at the end, with the virtual host and the core's figures; nil for nothing.
	Ended func(vhost string, counts mail.Counts, more *metrics.Published)
	VHost string
	// Begin is called once, when the core has its address, BeforeMail and AfterMail at the end of each turn, before and after
	// its mail is sent; nil for nothing.
	Begin, BeforeMail, AfterMail func()
}

// Actor is the actor of a channel or session. It must not be restarted.
type Actor struct {
	cfg   Config
	core  Core
	mail  *outgoing.Mail
	input *input.Input
	timer *clock.Wait // of the request that waits for its answer
	armed uint64      // number of the request, 0 for none
}

// New returns the actor of a core, whose mail and input these are.
func New(core Core, m *outgoing.Mail, in *input.Input, cfg Config) *Actor {
	return &Actor{cfg: cfg, core: core, mail: m, input: in}
}

// Receive handles one mail.
func (a *Actor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.mail.Me = ctx.Self()
		call(a.cfg.Begin)
		a.carryOut(ctx)
	case *actor.Stopping, *actor.Restarting:
		a.Abort()
		a.watchOver(ctx)
	case *actor.Stopped:
	case *actor.Terminated:
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	default:
		a.core.Handle(m)
		a.carryOut(ctx)
	}
}

// carryOut sends the mail of the turn, in order, and starts its jobs.
func (a *Actor) carryOut(ctx actor.Context) {
	call(a.cfg.BeforeMail)
	a.mail.CarryOut(func(to mail.Address, what any) { actorlib.Send(ctx, to, what) })
	call(a.cfg.AfterMail)
	a.watchOver(ctx)
	a.input.Start()
	if a.input.Phase == input.Ended {
		a.Abort()
		ctx.Stop(ctx.Self())
		return
	}
	a.guard(ctx)
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// watchOver starts and ends watches of queues.
func (a *Actor) watchOver(ctx actor.Context) {
	a.mail.WatchOver(func(who mail.Address) { actorlib.Watch(ctx, who) }, func(who mail.Address) { actorlib.Unwatch(ctx, who) })
}

// guard keeps a timer running while a request waits. After requests.AnswerTimeout the core gets input.Expired.
func (a *Actor) guard(ctx actor.Context) {
	id := a.input.Due()
	if id == a.armed {
		return
	}
	a.stopTimer()
	if a.armed = id; id != 0 {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		a.timer = a.cfg.Clock.After(requests.AnswerTimeout, func() { root.Send(self, input.Expired{ID: id}) })
	}
}

func (a *Actor) stopTimer() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// Abort returns the credit of mail that will no longer be handled, including the mail that caused a panic: mail stays
// parked or held while it is handled. After a panic the watches of the queues and the connection report that the actor
// is gone.
func (a *Actor) Abort() {
	defer func() { _ = recover() }()
	a.stopTimer()
	a.input.Phase = input.Ended
	if a.cfg.Ended != nil {
		counts, more := a.core.Figures()
		a.cfg.Ended(a.cfg.VHost, counts, more)
		a.cfg.Ended = nil
	}
	left := append(a.cfg.Close(), a.input.End()...)
	if m := a.core.Left(); m != nil {
		left = append(left, m)
	}
	release(left, a.input.Post)
	a.core.Release()
}

// release returns the credit of mail that is no longer handled. Senders of replies are told that the actor is gone.
func release(left []any, post func(to mail.Address, m any)) {
	for _, m := range left {
		switch m := m.(type) {
		case *mail.Inbound:
			m.Chunk.Release()
			m.Chunk = nil
		case *mail.Deliver:
			m.Release()
		case *mail.Enqueue: // replies
			if to, reply := m.Answer(mail.Gone); to != nil {
				post(to, reply)
			}
		}
	}
}
