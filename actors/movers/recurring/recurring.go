package recurring

import (
	"math/rand/v2"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"

	"github.com/asynkron/protoactor-go/actor"
)

type (
	// tick: the time of a run has come, or work is left.
	tick struct{ gen uint64 }
	// loaded: the journal has told how far a schedule came.
	loaded struct {
		incarnation uint64
		list        []store.Recovered
	}
)

// recurring is the shell.
type recurring struct {
	cfg   Config
	state state
	timer *clock.Timer
	armed int64 // date in ms, 0 for none
	gen   uint64
}

// New returns the actor.
func New(cfg Config) actor.Actor {
	r := &recurring{cfg: cfg}
	r.state.init(&r.cfg, rand.Uint64()>>1)
	return r
}

// Receive handles one mail.
func (r *recurring) Receive(ctx actor.Context) {
	defer actorlib.AnswerPanic(ctx)
	s := &r.state
	s.dates = r.cfg.Clock.Dates()
	s.dates.Read()
	s.at = r.cfg.Clock.Now()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.begin(ctx.Self())
	case tick:
		if m.gen == r.gen {
			r.armed = 0
		}
	case loaded:
		s.loaded(m.incarnation, m.list)
	case *mail.EnqueueReply:
		s.enqueued(m)
	case *Set:
		s.set(m.Spec)
	case *Remove:
		s.remove(m.Name, m.Incarnation)
	case *Trigger:
		s.trigger(m)
	case *List:
		s.list(m)
	case Look: // the machine's clock was set, or it slept
	case *actor.Terminated: // system mail, ahead of the peer's other mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	case *mail.PeerGone:
		s.gone(m.Who)
	case *actor.Stopping, *actor.Restarting:
		r.stop()
		for _, c := range s.copies {
			if t := c.flight.trigger; t != nil {
				to, reply := t.Answer(mail.Failed)
				actorlib.Send(ctx, to, reply)
				c.flight.trigger = nil
			}
		}
		return
	case Quit:
		ctx.Stop(ctx.Self())
		return
	default:
		return
	}
	s.run()
	r.carryOut(ctx)
}

func (r *recurring) carryOut(ctx actor.Context) {
	s := &r.state
	for _, w := range s.out.watch {
		actorlib.Watch(ctx, w)
	}
	for _, p := range s.out.Posts {
		actorlib.Send(ctx, p.To, p.Mail)
	}
	s.writeProgress(r.cfg.Journal)
	self, root := ctx.Self(), ctx.ActorSystem().Root
	for _, id := range s.out.load {
		r.cfg.Load(store.QueueID(id), func(list []store.Recovered, err error) {
			if err != nil { // runs after the creation are published again, and dropped by their queues
				r.cfg.Log.Error().Err(err).Str("vhost", r.cfg.VHost.Name).Msg("the journal does not know how far a schedule came")
			}
			root.Send(self, loaded{id, list})
		})
	}
	for _, spec := range s.out.ended {
		r.cfg.Ended(spec)
	}
	s.out = outcome{}
	r.arm(func(gen uint64) { root.Send(self, tick{gen}) })
}

// arm sets the timer for the next run.
func (r *recurring) arm(fire func(gen uint64)) {
	at, ok := r.state.wake()
	if ok && at == r.armed {
		return
	}
	r.stop()
	if ok {
		r.armed = at
		r.gen++
		gen := r.gen
		r.timer = r.cfg.Clock.At(r.state.dates.Deadline(at), func() { fire(gen) })
	}
}

func (r *recurring) stop() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.armed = 0
}
