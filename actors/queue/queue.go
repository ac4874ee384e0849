package queue

import (
	"time"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/records"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/policies"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// Config configures a queue.
type Config struct {
	*Shared
	Queue     *topology.Queue // the vhost fills in the PID
	Effective policies.Effective
	Settings  policies.QueueSettings
	// Recovered holds the journal's records of the queue when it was opened or recalled (store.Journal's Take and
	// Recall), by ascending sequence number. Overdue messages expire in the queue's first turn, or when it wakes
	// (TTL-26).
	Recovered []store.Recovered
	// Newest is not below the highest sequence number that any message of the queue has ever had, even if that message
	// is gone (ADR 28).
	Newest uint64
	// Recovering makes the queue wait for mail.Activate: until then it takes Configure, answers queries and parks all other
	// mail.
	Recovering bool
	// Revived marks a restart after a panic: the broker was not down, so nothing has become overdue.
	Revived bool
	// Notes pays for the ids of the duplicate detection window and for session states (PRO-21); nil for no limit.
	Notes *budget.Holder
	// Close closes the actor's mailbox and returns the mail left in it.
	Close func() []any
}

// Shared holds what the queues of a virtual host have in common. There may be many queues, so each has only a pointer
// to it.
type Shared struct {
	VHost   *topology.VHost
	Journal store.Journal
	// Current is that of store.Replicated if Journal is that of a cluster, else nil. Post must be set then.
	Current func() bool
	// Budget limits the memory of all queues together; nil for no limit.
	Budget *budget.Budget
	Clock  *clock.Clock
	// Metrics receives each queue's numbers of messages and events; nil for none.
	Metrics *metrics.Queues
	// Died is called with the number of messages that ended for a reason of DL-9 and are not dead-lettered (TTL-29);
	// nil if not needed.
	Died func(reason string, count uint64)
	Log  *zerolog.Logger
	// Post sends mail from any goroutine.
	Post func(to mail.Address, what any)
	// Fault, unless nil, is called with each mail before it is handled, so that tests can make the queue panic.
	Fault func(received any)
}

// queue is the shell.
type queue struct {
	*awake       // nil while it is dormant, and before its start
	dormant      dormantState
	begin        *Config // nil after its start
	cfg          *Shared
	close        func() []any
	notes        *budget.Holder
	timer        alarm
	pause        *alarm        // for pauses in real time, if the broker has a test clock; otherwise timer is for both
	againPending bool          // an again is in the mailbox
	named        bool          // the queue's name was written to the journal
	hadMessages  bool          // the queue has held messages since it awoke
	slept        time.Duration // how long the machine has slept, as of the last turn
}

// alarm is a timer of the queue.
type alarm struct {
	timer *clock.Timer
	armed int64 // its time in ms, 0 when it is not armed
	gen   uint32
}

// timerFired: a timer of generation gen fired. Older generations are ignored.
type timerFired struct {
	gen   uint32
	pause bool // it is the timer for pauses
}

// again continues work that was cut short in an earlier turn.
type again struct{}

// appendDone: records are durable in the journal or have failed.
type appendDone struct {
	commit *records.Commit // nil for marks for which only the gate waits
	err    error
	gate   bool // it counts for the gate
}

// New returns the actor. It needs a mailbox of package actors/system/mailbox.
func New(cfg Config) actor.Actor {
	return &queue{begin: &cfg, cfg: cfg.Shared, close: cfg.Close, notes: cfg.Notes}
}

// Receive handles one mail. Between mails the queue may be dormant.
func (q *queue) Receive(ctx actor.Context) {
	if q.awake == nil {
		q.endDormancy(ctx.Self())
	}
	q.receive(ctx)
	if !q.againPending && q.mayBeDormant() {
		q.rest()
	}
}

// receive handles one mail, and then parked mail if the queue is live again.
func (q *queue) receive(ctx actor.Context) {
	received := ctx.Message()
	switch m := received.(type) {
	case *actor.Started:
		if q.start(ctx) {
			received = again{}
		}
	case *actor.Stopping, *actor.Restarting:
		q.abort(ctx)
		return
	case *actor.Stopped:
		q.state.consumers.Channels(func(h *consumers.Holder) {
			if h.Address != nil {
				actorlib.Unwatch(ctx, h.Address)
			}
		})
		return
	case *actor.Terminated: // system mail, ahead of the peer's other mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
		return
	case *mail.ClockJumped:
		q.timer.armed, received = 0, timerFired{}
	case timerFired:
		a := &q.timer
		if m.pause {
			a = q.pause
		}
		if m.gen != a.gen {
			return
		}
		if a.armed = 0; !q.due() {
			q.arm(ctx)
			return
		}
	case again:
		q.againPending = false
	case appendDone:
		full := q.gate.Full()
		if m.gate {
			q.gate.Ended(m.err, func(p mail.Post) { actorlib.Send(ctx, p.To, p.Mail) })
		}
		if m.commit == nil && !full {
			return
		} else if m.commit == nil {
			received = again{} // as now there may be room
		}
	case loaded, *deliveries.LookedUp:
		q.reading--
	}
	q.turn(ctx, received)
	for range unparkLimit {
		m, ok := q.state.unpark()
		if !ok {
			return
		}
		q.turn(ctx, m)
	}
	q.runAgain(ctx)
}

// runAgain requests another turn.
func (q *queue) runAgain(ctx actor.Context) {
	if !q.againPending {
		q.againPending = true
		ctx.Send(ctx.Self(), again{})
	}
}

// turn handles one mail: the core decides, then the outcome is carried out.
func (q *queue) turn(ctx actor.Context, received any) {
	defer q.onPanic(ctx, received)
	if q.cfg.Fault != nil {
		q.cfg.Fault(received)
	}
	q.state.full = q.gate.Full()
	q.state.messages.OverLimit, q.state.messages.Critical = q.cfg.Budget.OverLimit(), q.cfg.Budget.Critical()
	if q.state.messages.Settings.DuplicateWindow > 0 || q.state.messages.Sessions != nil {
		q.state.messages.Scarce, q.state.messages.Full = !q.notes.Spare(1), q.notes.Room(1)
	}
	q.state.handle(received, q.now())
	q.carryOut(ctx)
}

// start initialises the core, and reports whether it has work to do at once.
func (q *queue) start(ctx actor.Context) bool {
	now, slept := q.cfg.Clock.Read()
	q.slept, q.state.messages.Dates = slept, q.cfg.Clock.Dates()
	if len(q.begin.Recovered) > 0 { // reading the machine's clocks costs more than the start of an empty queue
		q.state.messages.Dates.Read()
		q.begin.Recovered = records.FromWall(q.begin.Recovered, q.state.messages.Dates.Kept(), now)
	}
	q.state.init(q.begin, ctx.Self(), now)
	q.begin = nil
	return q.state.messages.Backlog.Len() > 0 || q.state.figures().held > 0
}

// carryOut carries out what the core has decided, in order.
func (q *queue) carryOut(ctx actor.Context) {
	s := &q.state
	list, c := s.messages.Journal.HandOver()
	records.ToWall(list, s.messages.Dates.Kept())
	s.flush()
	gated := q.cfg.Current != nil &&
		s.messages.Journal.Gated(&q.gate, q.cfg.Budget, s.messages.Settings.DeliverAfterCommit, len(list) > 0 || c != nil, len(s.out.Posts) > s.out.told, q.cfg.Current)
	f := q.post(ctx)
	for _, w := range s.out.watch {
		actorlib.Watch(ctx, w)
	}
	s.out.watch = nil
	q.journal(ctx, list, c, gated)
	q.read(ctx)
	q.account(f)
	f.recycle()
	q.report()
	switch {
	case s.phase == ended:
		q.end(ctx)
	case s.out.again: // the next turn arms the timer
		s.out.again = false
		q.runAgain(ctx)
	default:
		q.arm(ctx)
	}
}

// post sends the turn's mail, deliveries last, and returns the queue's figures.
func (q *queue) post(ctx actor.Context) *figures {
	s := &q.state
	f := q.publishFigures() // before the mail, so that its receivers see current figures
	q.gate.Send(&s.out.Posts, s.out.told, s.self, func(p mail.Post) { actorlib.Send(ctx, p.To, p.Mail) })
	q.gate.Free(s.out.done)
	s.out.told, s.out.done = 0, s.out.done[:0]
	s.flow.ReleaseCredit()
	return f
}

// arm sets the timers for the earliest deadline and the earliest end of a pause. A test clock needs one for each.
func (q *queue) arm(ctx actor.Context) {
	due, pause := q.state.deadlines()
	pause.of(q.restAt())
	if c := q.cfg.Clock; c.Manual() {
		if q.pause == nil {
			q.pause = &alarm{}
		}
		q.pause.set(ctx, c.Real(), pause, true)
	} else {
		due.of(pause.at, pause.ok)
	}
	q.timer.set(ctx, q.cfg.Clock, due, false)
}

// set sets the timer, unless it is set for that time or earlier: a timer that fires early is harmless. That of a test clock is exact,
// so that its next call is the next deadline.
func (a *alarm) set(ctx actor.Context, c *clock.Clock, next earliest, pause bool) {
	if c.Manual() && a.armed != 0 && a.armed != next.at {
		a.stop()
		a.armed = 0
	}
	if !next.ok || a.armed != 0 && a.armed <= next.at {
		return
	}
	a.stop()
	a.armed = next.at
	fired, self, root := timerFired{a.gen, pause}, ctx.Self(), ctx.ActorSystem().Root
	a.timer = c.At(next.at, func() { root.Send(self, fired) })
}

// stop cancels the timer.
func (a *alarm) stop() {
	a.gen++
	if a.timer != nil {
		a.timer.Stop()
	}
}

// end closes the mailbox, answers the mail left in it and stops the actor (PRO-1).
func (q *queue) end(ctx actor.Context) {
	q.stopTimers()
	now := q.cfg.Clock.Now()
	for _, m := range q.close() {
		q.state.handle(m, now)
	}
	q.state.flush()
	q.post(ctx).recycle()
	q.gate.Leave(q.cfg.Journal, idOf(q.state.queue), q.cfg.Post)
	q.returnBudget()
	ctx.Stop(ctx.Self())
}

func (q *queue) stopTimers() {
	q.timer.stop()
	if q.pause != nil {
		q.pause.stop()
	}
}
