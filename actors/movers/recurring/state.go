package recurring

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/measure/recurrence"
	"candlemark/internal/routing/routefinder"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"

	"github.com/rs/zerolog"
)

// Limits of the actor.
const (
	turnLimit   = 512     // runs in a turn
	maxCopies   = 1 << 15 // messages that queues have not answered
	lateness    = 10_000  // ms after which a run counts as missed (REC-9)
	maxCatchUp  = 1000    // missed runs that are published
	maxCounted  = 10_000  // missed runs of a schedule that are counted; a turn ends after as many
	holdFor     = 500     // ms until the next look at an alarm
	retryAfter  = 1000    // ms until runs whose queue has ended or panicked are published again, then twice as long each time
	maxRetries  = 5
	keptHistory = 50
)

// Config is the interface of the actor to the broker.
type Config struct {
	VHost *topology.VHost
	// Schedules returns the schedules of the virtual host, when the actor starts.
	Schedules func() []*parameters.ScheduleSpec
	// Load passes what the journal has of a schedule to done, from any goroutine.
	Load    func(of store.QueueID, done func([]store.Recovered, error))
	Journal store.Journal
	// May returns why a user may not publish to an exchange with a key, nil if the user may; known is false without such a user.
	May func(user, exchange, key string) (known bool, err error)
	// Alarm reports whether there is an alarm about memory or disk space, during which nothing is published.
	Alarm func() bool
	// Ended is called for a schedule without further runs that is to be deleted.
	Ended  func(*parameters.ScheduleSpec)
	Events *events.Hub    // nil for none
	Copies *budget.Copies // permits messages for several queues; nil for no limit
	Stats  *Stats
	Clock  *clock.Clock
	Log    zerolog.Logger
}

// The mail that the actor takes.
type (
	// Set creates or replaces a schedule.
	Set struct{ Spec *parameters.ScheduleSpec }
	// Remove ends a schedule.
	Remove struct {
		Name        string
		Incarnation uint64
	}
	// Look makes the actor compare its times with the machine's clock, which was set.
	Look struct{}
	// Quit ends the actor after the mail before.
	Quit struct{}
)

// schedule is the state of one schedule. Times are dates in ms since 1970.
type schedule struct {
	spec *parameters.ScheduleSpec
	// filling is the backfill of a schedule, which is a schedule with a parent; paced is the date of its next run.
	filling, parent *schedule
	paced           int64

	index   int  // in the heap, -1 outside of it
	ready   bool // how far it came is known
	removed bool
	// from is the last nominal time that is published or left out, done the last one up to which all are answered.
	from, done       int64
	fired, doneFired int64 // runs by then
	next, due        int64 // nominal and with jitter, while it is in the heap
	at               int64 // when it is looked at: due, or later if it is held
	heldUntil, wait  int64 // by hold; the wait is 0 after a run that was published
	why              recurrence.Reason
	flights          []*flight // oldest first
	// open: that many of flights are under way, since the turn sent; queues have answered the others.
	open    int
	sent    uint64
	tries   int   // of the lost ones
	retryAt int64 // date of the next try
	// catching: missed runs until a time are published, left of them.
	catching bool
	until    int64
	left     int
	// of the note in the journal
	seq   uint64
	dirty bool
	Counts
	last    *Ran
	history []Ran
	noUser  bool
	// noTarget: the target of the last run did not exist.
	noTarget bool
	// running: there were further runs when it was last planned, which is not said of one that begins.
	running bool
}

// state is the core.
type state struct {
	cfg   *Config
	self  mail.Address
	dates clock.Dates
	at    clock.Instant // of this turn

	schedules map[string]*schedule
	numbers   map[uint64]*schedule // by incarnation
	due       dueHeap
	copies    map[uint64]copied
	number    uint64 // of the last copy
	finder    routefinder.Finder
	watched   map[string]bool
	batches   map[*topology.Queue]*mail.Enqueue
	order     []*topology.Queue
	heldUntil int64 // date until which nothing is published, in an alarm
	more      bool  // runs are due that exceeded the turn
	turn      uint64
	counted   int // missed runs in this turn
	changed   []*schedule
	out       outcome
}

// outcome holds the effects of a turn.
type outcome struct {
	mail.Posts
	watch []mail.Address
	load  []uint64
	ended []*parameters.ScheduleSpec
}

func (s *state) init(cfg *Config, base uint64) {
	s.cfg, s.number = cfg, base
	s.schedules, s.numbers, s.copies = map[string]*schedule{}, map[uint64]*schedule{}, map[uint64]copied{}
	s.watched, s.batches = map[string]bool{}, map[*topology.Queue]*mail.Enqueue{}
}

func (s *state) begin(self mail.Address) {
	s.self = self
	for _, spec := range s.cfg.Schedules() {
		s.set(spec)
	}
}

// now returns the date of the turn, in ms.
func (s *state) now() int64 { return s.dates.Date(s.at.Floor()) }

// set creates or replaces a schedule. One that is new is loaded first.
func (s *state) set(spec *parameters.ScheduleSpec) {
	x := s.schedules[spec.Name]
	if x != nil && x.spec.Incarnation != spec.Incarnation {
		s.remove(spec.Name, x.spec.Incarnation)
		x = nil
	}
	if x == nil {
		s.schedules[spec.Name] = s.begun(spec, nil)
		return
	}
	s.change(x, spec)
	x.catching = x.catching && !spec.Paused
	s.backfill(x)
}

func (s *state) change(x *schedule, spec *parameters.ScheduleSpec) {
	x.spec, x.noUser = spec, false
	if x.ready {
		s.skipTo(x, spec.Since)
		s.plan(x)
	}
}

// begun adds a schedule, or the backfill of one, which continues when it is loaded.
func (s *state) begun(spec *parameters.ScheduleSpec, parent *schedule) *schedule {
	x := &schedule{index: -1, spec: spec, parent: parent}
	s.numbers[spec.Incarnation] = x
	s.out.load = append(s.out.load, spec.Incarnation)
	s.backfill(x)
	return x
}

// loaded continues after the last run that the journal knows of.
func (s *state) loaded(incarnation uint64, list []store.Recovered) {
	x := s.numbers[incarnation]
	if x == nil || x.ready {
		return
	}
	x.ready, x.done, x.paced = true, x.spec.Created, s.now()
	for i := range list {
		m := &list[i]
		if x.seq = max(x.seq, m.Seq); m.TTL > x.done {
			x.done, x.doneFired = m.TTL, m.Deadline
		}
	}
	x.from, x.fired = x.done, x.doneFired
	s.skipTo(x, x.spec.Since)
	s.plan(x)
}

// remove ends a schedule. Runs under way are still published.
func (s *state) remove(name string, incarnation uint64) {
	x := s.schedules[name]
	if x == nil || x.spec.Incarnation != incarnation {
		return
	}
	delete(s.schedules, name)
	s.discard(x)
}

func (s *state) discard(x *schedule) {
	delete(s.numbers, x.spec.Incarnation)
	x.removed = true
	s.due.drop(x)
	s.touch(x)
	if x.filling != nil {
		s.discard(x.filling)
	}
}

// plan computes the next run.
func (s *state) plan(x *schedule) {
	s.due.drop(x)
	if x.open == 0 && len(x.flights) > 0 && !x.removed {
		x.due = x.retryAt
		s.push(x)
		return
	}
	if !x.ready || x.removed || x.spec.Paused {
		return
	}
	next, why, ok := x.spec.Times.Next(x.from)
	if x.parent != nil {
		ok = ok && next <= x.spec.Backfill.To
	}
	if !ok || x.spec.Count > 0 && x.fired >= x.spec.Count {
		s.end(x)
		return
	}
	x.running = true
	x.next, x.why, x.due = next, why, next+x.spec.Times.Delay(next)
	if x.parent != nil {
		x.due = x.paced
	}
	s.push(x)
}

// end reports that a schedule has no further runs, when the last one is answered.
func (s *state) end(x *schedule) {
	if len(x.flights) > 0 {
		return
	}
	if x.running && x.parent == nil {
		s.publishEvent(x, "schedule.ended")
	}
	if x.running = false; x.spec.DeleteAtEnd {
		s.out.ended = append(s.out.ended, x.spec)
	}
}

// ended reports whether a schedule has no further runs.
func (x *schedule) ended() bool {
	return x.ready && !x.spec.Paused && x.index < 0 && len(x.flights) == 0
}

// wake returns the date at which run has to be called.
func (s *state) wake() (at int64, ok bool) {
	if len(s.due) > 0 {
		at, ok = s.due[0].at, true
	}
	switch {
	case !ok || len(s.copies) >= maxCopies: // answers follow
		return 0, false
	case s.more:
		return s.now(), true
	}
	return max(at, s.heldUntil), true
}

// run publishes the runs that are due, up to a turn's limit.
func (s *state) run() {
	now := s.now()
	s.more, s.counted = false, 0
	if at, ok := s.wake(); !ok || at > now {
		return
	}
	if s.cfg.Alarm() {
		s.heldUntil = now + holdFor
		return
	}
	s.turn++
	for left := turnLimit; len(s.copies) < maxCopies && s.heldUntil <= now && len(s.due) > 0 && s.due[0].at <= now; {
		x := s.due[0]
		again := x.open == 0 && len(x.flights) > 0
		if s.more = left <= 0 || s.counted >= maxCounted || again && left < min(len(x.flights), turnLimit); s.more {
			break
		}
		switch {
		case x.open > 0 && x.sent != s.turn: // its next runs follow the answers
			s.due.drop(x)
			continue
		case again:
			left -= len(x.flights)
			x.sent = 0 // later runs follow, so that they do not fail with these
			s.retry(x)
		default:
			left--
			s.step(x, now)
		}
		s.plan(x)
	}
	s.flush()
}

// step publishes the next run of a schedule that is due, or decides on missed runs (REC-9).
func (s *state) step(x *schedule, now int64) {
	if x.parent != nil {
		s.fill(x, now)
		return
	}
	if !x.catching && now-x.due > lateness {
		s.missed(x, now)
		return
	}
	by := byTimer
	if x.catching {
		by = byCatchUp
	}
	if !s.fire(x, x.next, by, 0) {
		return
	}
	if x.catching {
		x.left--
	}
	switch {
	case !x.catching:
	case x.from >= x.until:
		x.catching = false
	case x.left == 0:
		x.catching = false
		s.leaveOut(x, x.until)
	}
}
