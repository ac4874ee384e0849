package queue

import (
	"sync"
	"unique"

	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/lease"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/receivers"
	"candlemark/actors/queue/sessions"
	"candlemark/internal/metrics"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// quietTime is for how long, in ms, a queue that has held messages keeps the memory that was of use to them while nobody
// uses it: more may come.
const quietTime = 5000

// dormant has all that there is of a queue which holds nothing and does nothing (ADR 59).
type dormant struct {
	queue     *topology.Queue
	settings  unique.Handle[policies.QueueSettings]
	effective unique.Handle[matched]
	lease     lease.Lease
	used      int64
	handled   uint64
	seq       uint64
	past      *messages.Past
}

// awake is the rest of it.
type awake struct {
	state       state
	told        metrics.Numbers
	broke       any   // the mail that made it panic
	budgetBytes int64 // what of the budget is the queue's
	budgetCount int64 // of the messages that it counts
	reading     int   // answers of the journal that are to come
}

// spare are those that queues have left, empty.
var spare = sync.Pool{New: func() any { return new(awake) }}

// wake makes what a turn needs.
func (q *queue) wake(self mail.Address) {
	q.awake = spare.Get().(*awake)
	if q.begin != nil {
		return
	}
	resume(&q.state, &q.dormant, q.cfg, self)
	q.told = numbersOf(&q.state) // of the turn before it rested
	q.dormant = dormant{}
}

// resting reports whether the queue rests until there is mail.
func (q *queue) resting() bool {
	s := &q.state
	return idle(s) && s.consumers.Channelless() && q.reading == 0 && (!q.held || s.Journal.At >= s.used+quietTime)
}

// rest gives up what a dormant queue does without.
func (q *queue) rest() {
	if q.state.Taken() > 0 {
		q.state.Shrink()
		q.tell()
	}
	q.dormant = doze(&q.state)
	q.cfg.Budget.Add(-q.budgetBytes)
	q.held = false
	*q.awake = awake{}
	spare.Put(q.awake)
	q.awake = nil
}

// restAt is when memory is given back, in wall ms, if the queue is not used before.
func (q *queue) restAt() (ms int64, ok bool) {
	empty := q.state.Empty()
	q.held = q.held || !empty
	return q.state.used + quietTime, q.held && empty && q.state.phase == live
}

// due reports whether something is, now that the timer has fired. If not, it may be time to give memory back, which is no use.
func (q *queue) due() bool {
	now, s := q.now(), &q.state
	if at, ok := s.deadline(); ok && at <= now.Floor() {
		return true
	}
	s.Journal.At = now.Floor()
	if at, ok := q.restAt(); ok && at <= s.Journal.At {
		if q.held = false; idle(s) && q.reading == 0 {
			s.Shrink()
			s.deliveries.Timeouts, s.flow, s.out = nil, nil, outcome{}
			q.tell()
		}
	}
	return false
}

// idle reports whether the queue waits for mail only, whoever consumes from it.
func idle(s *state) bool {
	return s.phase == live && !s.dueNow && s.Idle() && s.pending.Work() == nil && !s.pending.Waits() &&
		len(s.gets) == 0 && s.waking == nil && s.preview == nil
}

// doze keeps what is to stay of a core that is idle and that no channel knows.
func doze(s *state) dormant {
	return dormant{s.queue, unique.Make(s.Settings), s.effective, s.lease, s.used, s.handled, s.Seq, s.Past()}
}

// resume makes the core of it again.
func resume(s *state, d *dormant, cfg *Shared, self mail.Address) {
	s.queue, s.vhost, s.self = d.queue, cfg.VHost, self
	s.Set.Init(d.queue, cfg.VHost, self, d.settings.Value(), cfg.Budget, &s.out.Outbox)
	s.GoOn(d.past)
	s.effective, s.lease, s.used, s.handled, s.Seq = d.effective, d.lease, d.used, d.handled, d.seq
	s.consumers = consumers.New(&s.out.Outbox, self, s.Settings.SingleActiveConsumer && !sessions.Wanted(d.queue.Arguments), s.Quorum)
	s.consumers.Pause(s.Settings.HasForward)
	s.turnMost = workLimit
	s.deliveries = deliveries.New(deliveries.Parts{
		Name: d.queue.Name, Self: self, Messages: &s.Set, Consumers: &s.consumers, Pending: &s.pending, Most: &s.turnMost, Out: &s.out.Outbox, Owner: s,
	})
	if sessions.Wanted(d.queue.Arguments) {
		messages.HaveSessions(&s.Set, sessions.New(&s.Backlog, s.consumers.Run))
	}
	s.receivers = receivers.New(receivers.Parts{
		Name: d.queue.Name, Self: self, Messages: &s.Set, Consumers: &s.consumers, Takes: &s.deliveries, Pending: &s.pending, Most: &s.turnMost, Out: &s.out.Outbox, Owner: s,
	})
	if cfg.Metrics != nil {
		s.Late.Share = cfg.Metrics.Of(metrics.KindOf(s.queue.Type, s.Holds), s.queue.Incarnation)
	}
}

// matched names the policies that apply to a queue.
type matched struct {
	user, operator *policies.Policy
	version        uint64
	doubtful       string
}

func matchedBy(e policies.Effective) unique.Handle[matched] {
	m := matched{version: e.Version, doubtful: e.Doubtful}
	m.user, m.operator = e.Matched()
	return unique.Make(m)
}

// effective is the policies.Effective that it was made of, for those who look at it.
func (m matched) effective() policies.Effective {
	e := policies.Effective{Version: m.version, Doubtful: m.doubtful, Definition: policies.Merge(m.user, m.operator)}
	if m.user != nil {
		e.Policy = m.user.Name
	}
	if m.operator != nil {
		e.OperatorPolicy = m.operator.Name
	}
	return e
}
