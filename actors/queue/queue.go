package queue

import (
	"time"

	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/records"
	"candlemark/internal/budget"
	"candlemark/internal/clock"
	"candlemark/internal/metrics"
	"candlemark/internal/store"
	"candlemark/internal/topology"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a queue.
type Config struct {
	*Shared
	Queue     *topology.Queue // its identity; the PID is filled in by the vhost
	Effective policies.Effective
	Settings  policies.QueueSettings
	// Recovered holds what the journal had of the queue when it was opened or
	// recalled (store.Journal's Take and Recall), by ascending sequence number.
	// What is overdue expires in the queue's first turn, or when it wakes (TTL-26).
	Recovered []store.Recovered
	// Newest is a number that is at least as high as that of any message that the queue
	// has ever had: it may have given one out of which nothing is left (ADR 28).
	Newest uint64
	// Asleep makes the queue wait for mail.Wake before it does anything on its
	// own: until then it takes Configure, answers questions and parks all other mail.
	Asleep bool
	// Revived: it comes back after a panic, so nothing has come due while the broker
	// was down.
	Revived bool
	// Close closes the actor's mailbox and returns what is left in it.
	Close func() []any
}

// Shared holds what the queues of a virtual host have in common: there may be many, and each is to be small.
type Shared struct {
	VHost   *topology.VHost
	Journal store.Journal
	// Budget limits what all queues together hold in memory; nil for no limit.
	Budget *budget.Budget
	Clock  *clock.Clock
	// Metrics is told what the queues hold and have done; nil for nobody.
	Metrics *metrics.Queues
	// Died is told how many messages ended by a reason of DL-9 and are not
	// dead-lettered (TTL-29); nil for nobody.
	Died func(reason string, count uint64)
	Log  *zerolog.Logger
	// Fault, unless nil, sees every mail in the queue's turn before it is
	// handled, so that tests can make the queue panic.
	Fault func(what any)
}

// queue is the shell.
type queue struct {
	*awake  // nil while it is dormant, and before it begins
	dormant dormant
	begin   *Config // nil once it has begun
	cfg     *Shared
	close   func() []any
	timer   *clock.Timer
	armed   int64 // deadline of the timer in wall ms, 0 when it is not armed
	gen     uint32
	going   bool          // again is under way
	named   bool          // the journal was told the queue's name
	held    bool          // there have been messages since it awoke
	slept   time.Duration // of the machine, as far as the core knows
}

// timerFired: the timer of generation gen ran out; an older one is stale.
type timerFired struct{ gen uint32 }

// again: work was cut short in an earlier turn and goes on in this one.
type again struct{}

// appendDone: a commit is durable in the journal, or lost.
type appendDone struct {
	commit *records.Commit
	err    error
}

// New makes the actor. Its mailbox is the hot one (actors/mailbox).
func New(cfg Config) actor.Actor {
	return &queue{begin: &cfg, cfg: cfg.Shared, close: cfg.Close}
}

// Receive handles one mail. In between the queue may be dormant.
func (q *queue) Receive(ctx actor.Context) {
	if q.awake == nil {
		q.wake(ctx.Self())
	}
	q.receive(ctx)
	if !q.going && q.resting() {
		q.rest()
	}
}

// receive handles one mail, and behind it what was parked if the queue goes on.
func (q *queue) receive(ctx actor.Context) {
	what := ctx.Message()
	switch m := what.(type) {
	case *actor.Started:
		if q.start(ctx) {
			what = again{}
		}
	case *actor.Stopping, *actor.Restarting:
		q.abort(ctx)
		return
	case *actor.Stopped:
		q.state.consumers.Channels(func(h *consumers.Channel) { mail.Unwatch(ctx, h.Address) })
		return
	case *actor.Terminated: // it overtakes mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
		return
	case *mail.ClockJumped:
		q.armed, what = 0, timerFired{}
	case timerFired:
		if m.gen != q.gen {
			return
		}
		if q.armed = 0; !q.due() {
			q.arm(ctx)
			return
		}
	case again:
		q.going = false
	case loaded, lookedUp:
		q.reading--
	}
	q.turn(ctx, what)
	for range unparkLimit {
		m, ok := q.state.unpark()
		if !ok {
			return
		}
		q.turn(ctx, m)
	}
	q.goOn(ctx)
}

// goOn has another turn follow.
func (q *queue) goOn(ctx actor.Context) {
	if !q.going {
		q.going = true
		ctx.Send(ctx.Self(), again{})
	}
}

// turn is one mail: the core decides, then the outcome is carried out.
func (q *queue) turn(ctx actor.Context, what any) {
	defer q.onPanic(ctx, what)
	if q.cfg.Fault != nil {
		q.cfg.Fault(what)
	}
	q.state.OverLimit, q.state.Critical = q.cfg.Budget.OverLimit(), q.cfg.Budget.Critical()
	q.state.handle(what, q.now())
	q.carryOut(ctx)
}

// start reports whether the queue has something to do at once.
func (q *queue) start(ctx actor.Context) bool {
	now, slept := q.cfg.Clock.Read()
	q.slept, q.state.Skew = slept, q.cfg.Clock.Skew()
	q.begin.Recovered = records.FromWall(q.begin.Recovered, q.state.Skew, now)
	q.state.init(q.begin, ctx.Self(), now)
	q.begin = nil
	return q.state.Backlog.Len() > 0 || q.state.Scheduled.Len() > 0
}

// carryOut does what the core decided, in order.
func (q *queue) carryOut(ctx actor.Context) {
	s := &q.state
	list, c := s.Journal.HandOver()
	records.ToWall(list, s.Skew)
	q.post(ctx)
	for _, w := range s.out.watch {
		ctx.Watch(w)
	}
	s.out.watch = nil
	q.journal(ctx, list, c)
	q.read(ctx)
	q.account()
	q.report()
	switch {
	case s.phase == ended:
		q.end(ctx)
	case s.out.again: // that turn arms the timer
		s.out.again = false
		q.goOn(ctx)
	default:
		q.arm(ctx)
	}
}

// post sends the turn's mail, deliveries last.
func (q *queue) post(ctx actor.Context) {
	s := &q.state
	s.flush()
	q.tell() // before anybody is told of it
	for _, p := range s.out.Posts {
		ctx.Send(p.To, p.What)
	}
	s.out.Clear()
	for i, e := range s.out.done {
		e.Release()
		s.out.done[i] = nil
	}
	s.out.done = s.out.done[:0]
	s.flow.GiveBack()
}

// arm sets the one timer for the earliest deadline, unless it is set for one
// at least as early: a firing that finds nothing due is harmless.
func (q *queue) arm(ctx actor.Context) {
	var next earliest
	next.of(q.state.deadline())
	next.of(q.restAt())
	if !next.ok || q.armed != 0 && q.armed <= next.at {
		return
	}
	q.armed = next.at
	q.gen++
	gen, self, root := q.gen, ctx.Self(), ctx.ActorSystem().Root
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timer = q.cfg.Clock.At(next.at, func() { root.Send(self, timerFired{gen}) })
}

// end closes the mailbox behind the last mail and stops (PRO-1).
func (q *queue) end(ctx actor.Context) {
	q.stopTimer()
	now := q.cfg.Clock.Now()
	for _, m := range q.close() {
		q.state.handle(m, now)
	}
	q.post(ctx)
	q.returnBudget()
	ctx.Stop(ctx.Self())
}

func (q *queue) stopTimer() {
	q.gen++
	if q.timer != nil {
		q.timer.Stop()
	}
}
