package queue

import (
	"sync"
	"time"
	"unique"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/expiry"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/records"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
)

// quietTime is how long, in ms, an unused queue that has held messages keeps their memory for later messages.
const quietTime = 5000

// dormantState is the whole state of a queue that holds no messages and waits for mail (ADR 59).
type dormantState struct {
	queue     *topology.Queue
	settings  unique.Handle[policies.QueueSettings]
	effective unique.Handle[policies.Matched]
	lease     expiry.Lease
	used      int64
	handled   uint64
	seq       uint64
	past      *messages.Counters
}

// awake is the rest of the state.
type awake struct {
	state    state
	reported queuestats.Sums
	failedOn any           // the mail that caused a panic
	gate     *records.Gate // nil if the queue's mail waits for nothing
	share    budget.Share
	reading  int // outstanding reads of the journal
}

// spare holds empty awake values for reuse.
var spare = sync.Pool{New: func() any { return new(awake) }}

// endDormancy builds the state that a turn needs.
func (q *queue) endDormancy(self mail.Address) {
	q.awake = spare.Get().(*awake)
	if q.begin != nil {
		return
	}
	fromDormant(&q.state, &q.dormant, q.cfg, self)
	f := q.state.figures()
	q.reported = *f.values.Sums() // as in the last turn before it became dormant
	f.recycle()
	q.dormant = dormantState{}
}

// mayBeDormant reports whether the queue can become dormant until the next mail.
func (q *queue) mayBeDormant() bool {
	s := &q.state
	return idle(s) && s.consumers.Channelless() && q.reading == 0 && q.gate.Open() && (!q.hadMessages || (clock.Instant(s.messages.Journal.At*int64(time.Millisecond))+s.messages.Pager.Apart).Floor() >= s.busy+quietTime)
}

// rest makes the queue dormant and releases the rest of its state.
func (q *queue) rest() {
	f := q.state.figures()
	if f.memory > 0 {
		q.state.messages.Shrink()
		q.publishFigures().recycle()
	}
	f.recycle()
	q.dormant = toDormant(&q.state)
	q.share.Set(budget.Share{}, q.cfg.Budget, q.notes)
	q.hadMessages = false
	*q.awake = awake{}
	spare.Put(q.awake)
	q.awake = nil
}

// restAt returns when memory is released unless the queue is used before, in ms of real time; ok is false if no release is
// planned.
func (q *queue) restAt() (ms int64, ok bool) {
	empty := q.share.Messages == 0
	q.hadMessages = q.hadMessages || !empty
	return q.state.busy + quietTime, q.hadMessages && empty && q.state.phase == live
}

// due reports whether the timer has fired for a deadline of the queue. Otherwise the queue may release memory, which
// does not count as a use.
func (q *queue) due() bool {
	now, s := q.now(), &q.state
	real := now + s.messages.Pager.Apart
	if due, pause := s.deadlines(); due.past(now) || pause.past(real) {
		return true
	}
	s.messages.Journal.At = now.Floor()
	if at, ok := q.restAt(); ok && at <= real.Floor() {
		if q.hadMessages = false; idle(s) && q.reading == 0 {
			s.messages.Shrink()
			s.deliveries.Timeouts, s.flow, s.out = nil, nil, outcome{}
			q.publishFigures().recycle()
		}
	}
	return false
}

// idle reports whether the queue only waits for mail; it may have consumers.
func idle(s *state) bool {
	if s.phase != live || s.dueNow || !s.messages.Idle() || s.pending.Work() != nil || s.pending.Waits() || s.waking != nil {
		return false
	}
	for _, of := range parts {
		if p := of(s); p != nil && p.Busy() {
			return false
		}
	}
	return true
}

// toDormant returns the state to keep of an idle core in which no channel is recorded.
func toDormant(s *state) dormantState {
	settings := s.settings
	if s.messages.Settings != settings.Value() {
		settings = unique.Make(s.messages.Settings)
	}
	return dormantState{s.queue, settings, s.effective, s.lease, s.used, s.handled, s.messages.Seq, s.messages.Counters()}
}

// fromDormant rebuilds the core from d.
func fromDormant(s *state, d *dormantState, cfg *Shared, self mail.Address) {
	s.queue, s.vhost, s.self = d.queue, cfg.VHost, self
	s.messages.Init(d.queue, cfg.VHost, self, d.settings.Value(), cfg.Budget, &s.out.Posts)
	s.messages.RestoreCounters(d.past)
	s.settings, s.effective, s.lease, s.used, s.handled, s.messages.Seq = d.settings, d.effective, d.lease, d.used, d.handled, d.seq
	s.consumers = consumers.New(&s.out.Posts, self, cfg.Post, s.messages.Settings.SingleActiveConsumer && !sessions.Enabled(d.queue.Arguments), s.messages.Quorum)
	s.consumers.Pause(consumers.Forwarding, forwards(&s.host))
	s.turnLimit = workLimit
	s.deliveries = deliveries.New(deliveries.Parts{
		Name: d.queue.Name, Arguments: d.queue.Arguments, Self: self, Messages: &s.messages, Consumers: &s.consumers, Pending: &s.pending, Limit: &s.turnLimit, Out: &s.out.Posts, Owner: &s.host, Lookups: &s.out.lookups,
	})
	s.build()
	s.pausing.hold.Set(s.messages.Settings.PausedUntil != 0)
	if cfg.Metrics != nil {
		share := cfg.Metrics.Of(metrics.KindOf(s.queue.Type, s.messages.Holds), s.queue.Incarnation)
		s.messages.Late.Share, s.messages.Ages.Share = share, share
	}
}
