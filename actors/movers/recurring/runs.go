package recurring

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/recurrence"
	"candlemark/protocol"
)

// The causes of runs, as in the header x-schedule-by.
const (
	byTimer    = "timer"
	byCatchUp  = "catch-up"
	byTrigger  = "trigger"
	byBackfill = "backfill"
)

// Result tells how a run ended.
type Result int

// The results.
const (
	Stored     Result = iota // all queues have taken it
	Skipped                  // because of the run before (REC-8)
	Refused                  // by a queue, or for lack of permission
	Unroutable               // no queue was found, or no exchange
	missedRun                // not published (REC-9)
	results
)

var resultNames = [results]string{"stored", "skipped", "refused", "unroutable", "missed"}

// String returns the name of a result.
func (r Result) String() string { return resultNames[r] }

// Stats counts runs. It outlives the actors, and is safe for concurrent use.
type Stats struct {
	counts [results]atomic.Int64
	Late   metrics.Lateness // from the time of a run, with its jitter, until all queues had taken it
}

func (s *Stats) add(r Result, n int64) { s.counts[r].Add(n) }

// Stored returns the number of runs that all their queues have taken.
func (s *Stats) Stored() int64 { return s.counts[Stored].Load() }

// Counts returns the number of runs by the name of their result.
func (s *Stats) Counts() map[string]int64 {
	all := make(map[string]int64, len(s.counts))
	for i := range s.counts {
		all[resultNames[i]] = s.counts[i].Load()
	}
	return all
}

// Counts are the runs of a schedule by their result, since the actor started.
type Counts struct{ Stored, Skipped, Refused, Unroutable, Missed int64 }

// Ran describes a run. Times are dates in ms.
type Ran struct {
	Time, Fired int64 // nominal, and when it was published
	Late        time.Duration
	By          string
	Result      Result
	Reason      string // why it was refused or not routed
}

// flight is a run under way.
type flight struct {
	x       *schedule
	at      int64 // nominal time
	due     int64 // with jitter
	fired   int64 // when it was published
	by      string
	missed  int
	number  int64 // of the run, 0 for triggers
	trigger *Trigger
	copies  int // unanswered
	over    bool
	result  Result
	reason  string
	lost    bool // a queue ended before it answered, or panicked
}

// copied is one message for one queue.
type copied struct {
	flight *flight
	queue  mail.Address
}

// fire publishes a run of a schedule. It returns false if the run has to wait.
func (s *state) fire(x *schedule, at int64, by string, missed int) bool {
	f := &flight{x: x, at: at, due: at + x.spec.Times.Delay(at), by: by, missed: missed, number: x.fired + 1}
	if x.parent != nil {
		f.due = s.now()
	}
	if !s.publish(f) {
		return false
	}
	x.from, x.fired, x.sent = at, f.number, s.turn
	x.flights = append(x.flights, f)
	s.land(x)
	return true
}

// trigger publishes a run at once; it has no mark and does not count towards the limit of runs.
func (s *state) trigger(m *Trigger) {
	x := s.schedules[m.Name]
	if x == nil {
		s.out.Send(m.ReplyTo, &TriggerReply{Reply: m.Done(nil), Gone: true})
		return
	}
	at := m.Time
	if at == 0 {
		at = s.now()
	}
	f := &flight{x: x, at: at, due: s.now(), by: byTrigger, trigger: m}
	if s.cfg.Alarm() || !s.publish(f) {
		s.out.Send(m.ReplyTo, &TriggerReply{Reply: m.Done(nil), Result: Refused, Reason: "publishers are blocked: memory or disk space is low"})
		return
	}
	s.flush()
}

// enqueued handles the answer of a queue.
func (s *state) enqueued(m *mail.EnqueueReply) {
	for _, r := range m.Ranges {
		for n := r.First; n <= r.Last; n++ {
			c, there := s.copies[n]
			if !there {
				continue
			}
			switch f := c.flight; {
			case m.Failed && f.trigger == nil:
				f.lost = true
			case m.Refused:
				f.result, f.reason = Refused, "a queue refused the message"
			case m.Skipped && f.result == Stored:
				f.result = Skipped
			}
			s.answered(n, c)
		}
	}
}

// gone handles the end of a queue: runs that it has not answered are published again, as they may be lost.
func (s *state) gone(who mail.Address) {
	delete(s.watched, who.GetId())
	var lost []uint64
	for n, c := range s.copies {
		if mail.Same(c.queue, who) {
			lost = append(lost, n)
		}
	}
	slices.Sort(lost)
	for _, n := range lost {
		c := s.copies[n]
		if c.flight.lost = true; c.flight.trigger != nil {
			c.flight.result, c.flight.reason = Refused, "a queue ended before it took the message"
		}
		s.answered(n, c)
	}
}

func (s *state) answered(n uint64, c copied) {
	delete(s.copies, n)
	f := c.flight
	if f.copies--; f.copies > 0 {
		return
	}
	if f.trigger != nil {
		s.finish(f)
		return
	}
	if !f.lost {
		s.finish(f)
	}
	if f.x.open--; f.x.open == 0 {
		s.settle(f.x)
	}
}

// settle continues a schedule whose runs under way have all been answered: those that are lost are published again, in order, because a
// queue takes no run after a later one.
func (s *state) settle(x *schedule) {
	if lost := x.lost(); len(lost) > 0 && x.tries < maxRetries && !x.removed {
		x.retryAt = s.now() + retryAfter<<x.tries
		x.tries++
	} else {
		for _, f := range lost {
			s.fail(f, Refused, "a queue ended or panicked over the message, and may have it")
		}
	}
	s.land(x)
	s.plan(x)
}

// lost returns the runs that are to be published again.
func (x *schedule) lost() (list []*flight) {
	for _, f := range x.flights {
		if f.lost && !f.over {
			list = append(list, f)
		}
	}
	return list
}

// retry publishes the lost runs of a schedule again.
func (s *state) retry(x *schedule) {
	for _, f := range x.lost() {
		if len(s.copies) >= maxCopies {
			break
		}
		if f.result, f.reason, f.lost = Stored, "", false; !s.publish(f) {
			f.lost = true
			break
		}
	}
	s.land(x)
}

// finish counts a run.
func (s *state) finish(f *flight) {
	f.over = true
	x := cmp.Or(f.x.parent, f.x)
	late := time.Duration(s.dates.Date(0))*time.Millisecond + time.Duration(s.at) - time.Duration(f.due)*time.Millisecond
	switch f.result {
	case Stored:
		x.Stored++
		if f.by == byTimer {
			s.cfg.Stats.Late.Observe(late)
		}
	case Skipped:
		x.Skipped++
	case Refused:
		x.Refused++
	case Unroutable:
		x.Unroutable++
	case missedRun, results:
	}
	s.cfg.Stats.add(f.result, 1)
	if f.result == Refused || f.result == Unroutable {
		s.publishEvent(x, "schedule.run.failed", protocol.Field{Key: "time_ms", Value: f.at}, protocol.Field{Key: "by", Value: f.by},
			protocol.Field{Key: "result", Value: f.result.String()}, protocol.Field{Key: "reason", Value: f.reason})
	}
	x.last = &Ran{Time: f.at, Fired: f.fired, Late: max(late, 0), By: f.by, Result: f.result, Reason: f.reason}
	if x.history = append(x.history, *x.last); len(x.history) > keptHistory {
		x.history = slices.Delete(x.history, 0, len(x.history)-keptHistory)
	}
	if f.trigger != nil {
		s.out.Send(f.trigger.ReplyTo, &TriggerReply{Reply: f.trigger.Done(nil), Result: f.result, Reason: f.reason})
	}
}

// land removes the runs that are over, up to the first that is not, and notes the progress.
func (s *state) land(x *schedule) {
	n := 0
	for n < len(x.flights) && x.flights[n].over {
		x.done, x.doneFired = x.flights[n].at, x.flights[n].number
		n++
	}
	if n > 0 {
		clear(x.flights[:n])
		x.flights = x.flights[n:]
		s.touch(x)
	}
	if len(x.flights) == 0 {
		x.tries = 0
	}
}

// The mail about schedules. It comes from the broker.
type (
	// Trigger publishes a run at once; TriggerReply comes back when all queues have it.
	Trigger struct {
		mail.Request
		Name string
		Time int64 // nominal, 0 for now
	}
	// TriggerReply answers Trigger.
	TriggerReply struct {
		mail.Reply
		Gone   bool // there is no such schedule
		Result Result
		Reason string
	}
	// List asks for the Statuses of schedules: of one, or of all for "".
	List struct {
		mail.Request
		Name string
	}
	// Statuses answers List, by name.
	Statuses struct {
		mail.Reply
		All []Status
	}
)

// Answer implements mail.Answerable.
func (t *Trigger) Answer(mail.Cause) (mail.Address, any) {
	return t.ReplyTo, &TriggerReply{Reply: t.Done(nil), Result: Refused, Reason: "the schedules of the virtual host failed"}
}

// Answer implements mail.Answerable.
func (l *List) Answer(mail.Cause) (mail.Address, any) {
	return l.ReplyTo, &Statuses{Reply: l.Done(nil)}
}

// State is the state of a schedule.
type State string

// The states.
const (
	Running  State = "running"
	Paused   State = "paused"
	Ended    State = "ended"
	NoUser   State = "no_user"
	NoTarget State = "no_target"
)

// Status describes a schedule. Times are dates in ms, 0 for none.
type Status struct {
	Name      string
	State     State
	Next, Due int64
	Why       recurrence.Reason
	Runs      int64 // published by the timer
	Last      *Ran
	History   []Ran // oldest first; only if one schedule is asked for
	Filled    int64 // runs of the backfill that are published
	Counts
}

func (s *state) list(m *List) {
	reply := &Statuses{Reply: m.Done(nil)}
	for name, x := range s.schedules {
		if m.Name != "" && m.Name != name {
			continue
		}
		status := Status{Name: name, State: Running, Runs: x.fired, Last: x.last, Counts: x.Counts}
		if x.filling != nil {
			status.Filled = x.filling.fired
		}
		if m.Name != "" {
			status.History = slices.Clone(x.history)
		}
		switch {
		case x.spec.Paused:
			status.State = Paused
		case x.ended():
			status.State = Ended
		case x.noUser:
			status.State = NoUser
		case x.noTarget:
			status.State = NoTarget
		}
		if x.index >= 0 || x.open > 0 {
			status.Next, status.Due, status.Why = x.next, x.due, x.why
		}
		reply.All = append(reply.All, status)
	}
	slices.SortFunc(reply.All, func(a, b Status) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	s.out.Send(m.ReplyTo, reply)
}
