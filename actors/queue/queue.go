package queue

import (
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config is what a queue needs to live.
type Config struct {
	Queue     *topology.Queue // its identity; the PID is filled in by the vhost
	VHost     *topology.VHost
	Effective policies.Effective
	Settings  policies.QueueSettings
	Journal   store.Journal
	// Recovered is what the journal had of the queue when it was opened or
	// recalled (store.Journal's Take and Recall), by ascending sequence number.
	// What is overdue expires in the queue's first turn, or when it wakes (TTL-26).
	Recovered []store.Recovered
	// Held: nothing is due before mail.OpenQueue.
	Held bool
	// Asleep makes the queue wait for mail.Wake before it does anything on its
	// own: until then it takes Configure, answers questions and parks all other mail.
	Asleep bool
	// Budget is what all queues together may hold in memory; nil for no limit.
	Budget *budget.Budget
	Clock  *clock.Clock
	Log    zerolog.Logger
	// Close closes the actor's mailbox and returns what is left in it.
	Close func() []any
	// Fault, unless nil, sees every mail in the queue's turn before it is
	// handled, so that tests can make the queue panic.
	Fault func(what any)
}

// queue is the shell.
type queue struct {
	cfg   Config
	state state
	timer *time.Timer
	armed int64 // deadline of the timer in wall ms, 0 when it is not armed
	gen   uint64
	going bool // again is under way
	broke any  // the mail that made it panic
}

// timerFired: the timer of generation gen ran out; an older one is stale.
type timerFired struct{ gen uint64 }

// again: work was cut short in an earlier turn and goes on in this one.
type again struct{}

// appendDone: the oldest batch in the journal is durable, or lost.
type appendDone struct{ err error }

// New makes the actor. Its mailbox is the hot one (actors/mailbox).
func New(cfg Config) actor.Actor { return &queue{cfg: cfg} }

// Receive handles one mail, and behind it what was parked if the queue goes on.
func (q *queue) Receive(ctx actor.Context) {
	what := ctx.Message()
	switch m := what.(type) {
	case *actor.Started:
		q.start(ctx)
	case *actor.Stopping, *actor.Restarting:
		q.bury(ctx)
		return
	case *actor.Stopped:
		return
	case *actor.Terminated: // it overtakes mail (DESIGN §5a.1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
		return
	case timerFired:
		if m.gen != q.gen {
			return
		}
		q.armed = 0
	case again:
		q.going = false
	}
	q.turn(ctx, what)
	for m, ok := q.state.unpark(); ok; m, ok = q.state.unpark() {
		q.turn(ctx, m)
	}
}

// turn is one mail: the core decides, then the outcome is carried out.
func (q *queue) turn(ctx actor.Context, what any) {
	defer q.onPanic(ctx, what)
	if q.cfg.Fault != nil {
		q.cfg.Fault(what)
	}
	q.state.handle(what, q.cfg.Clock.Now())
	q.carryOut(ctx)
}

func (q *queue) start(ctx actor.Context) {
	q.state.init(q.cfg, ctx.Self(), q.cfg.Clock.Now())
}

// carryOut does what the core decided, in order.
func (q *queue) carryOut(ctx actor.Context) {
	s := &q.state
	q.post(ctx)
	for _, w := range s.out.watch {
		ctx.Watch(w)
	}
	s.out.watch = nil
	if len(s.out.records) > 0 {
		q.journal(ctx)
	}
	switch {
	case s.phase == ended:
		q.end(ctx)
	case s.out.again: // that turn arms the timer
		s.out.again = false
		if !q.going {
			q.going = true
			ctx.Send(ctx.Self(), again{})
		}
	default:
		q.arm(ctx)
	}
}

// post sends the turn's mail, deliveries last.
func (q *queue) post(ctx actor.Context) {
	s := &q.state
	s.flush()
	for i, p := range s.out.posts {
		ctx.Send(p.to, p.what)
		s.out.posts[i] = post{}
	}
	s.out.posts = s.out.posts[:0]
	if cap(s.out.posts) > 64 {
		s.out.posts = nil
	}
	for i, e := range s.out.done {
		e.Release()
		s.out.done[i] = nil
	}
	s.out.done = s.out.done[:0]
}

// journal hands the turn's records over; the answer comes back as mail.
func (q *queue) journal(ctx actor.Context) {
	out := &q.state.out
	records := out.records
	q.state.commits = append(q.state.commits, out.commit)
	out.records, out.commit = nil, commit{}
	self, root := ctx.Self(), ctx.ActorSystem().Root
	q.cfg.Journal.Append(q.state.id, records, func(err error) { root.Send(self, appendDone{err}) })
}

// arm sets the one timer for the earliest deadline, unless it is set for one
// at least as early: a firing that finds nothing due is harmless.
func (q *queue) arm(ctx actor.Context) {
	deadline, ok := q.state.deadline()
	if !ok || q.armed != 0 && q.armed <= deadline {
		return
	}
	q.armed = deadline
	q.gen++
	gen, self, root := q.gen, ctx.Self(), ctx.ActorSystem().Root
	wait := max(q.cfg.Clock.Until(deadline), 0)
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timer = time.AfterFunc(wait, func() { root.Send(self, timerFired{gen}) })
}

// end closes the mailbox behind the last mail and stops (DESIGN §5a.1).
func (q *queue) end(ctx actor.Context) {
	q.stopTimer()
	now := q.cfg.Clock.Now()
	for _, m := range q.cfg.Close() {
		q.state.late(m, now)
	}
	q.post(ctx)
	ctx.Stop(ctx.Self())
}

func (q *queue) stopTimer() {
	q.gen++
	if q.timer != nil {
		q.timer.Stop()
	}
}

// bury is the end that nobody planned: a panic, or the broker stops. Whoever
// waits for the queue is told; what goes wrong here is not to keep the rest.
func (q *queue) bury(ctx actor.Context) {
	s := &q.state
	if s.phase == ended {
		return
	}
	s.phase = ended
	q.stopTimer()
	if q.broke != nil {
		q.cfg.Log.Error().Str("queue", s.queue.Name).Int("messages", s.messages.Len()).Int("consumers", s.consumers).
			Msg("a queue ended by a panic with what it held in memory")
	}
	left := append(s.parked, q.cfg.Close()...)
	s.parked = nil
	attempt(func() {
		s.fail(q.broke)
		for _, p := range s.out.posts {
			ctx.Send(p.to, p.what)
		}
	})
	for _, m := range left {
		attempt(func() { mail.AnswerAll(ctx, []any{m}, mail.Failed) })
	}
}

func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}

// onPanic answers the mail that broke the queue and lets the supervisor know.
func (q *queue) onPanic(ctx actor.Context, what any) {
	if r := recover(); r != nil {
		q.broke = what
		attempt(func() { mail.AnswerAll(ctx, []any{what}, mail.Failed) })
		panic(r)
	}
}
