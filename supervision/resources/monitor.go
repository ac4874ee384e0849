package resources

import (
	"sync"
	"time"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// Shares of the memory watermark, explained in docs/adr/0017.
const (
	pageFrom       = 2        // queues page out from this fraction of the watermark
	copyShare      = 5. / 8   // above it, of contents and entries, queues page out, and copies that the broker makes are rationed (docs/adr/0108)
	flowShare      = 2. / 3   // above it publishers are temporarily not read
	boundShare     = 0.9      // the collector keeps garbage below it
	minBound       = 64 << 20 // bytes, or the collector would run all the time
	trimPerTurn    = 5000     // approximate number of queues to trim per second
	flightShare    = 64       // a connection may have this fraction of the bytes in flight
	amplyFrom      = 256 << 20
	minTransaction = 1 << 20 // bytes besides the largest message
	historyShare   = 16      // recent-history exchanges may keep this fraction of the bytes
	begunShare     = 8       // incomplete contents may take this fraction of the bytes, and transactions the same
	unreadShare    = 8       // output that clients do not read may take this fraction of the bytes
	objectShare    = 2       // objects may take this fraction of the bytes
)

// Config configures the limits of memory and disk.
type Config struct {
	// Meter measures; nil for no alarms and no limits.
	Meter Meter
	// Watermark is the memory in use above which publishers are blocked.
	Watermark config.Amount
	// DiskFree is the free disk space below which publishers are blocked.
	DiskFree config.Amount
}

// Broker is the interface to the monitored broker.
type Broker struct {
	Name       string // of the node, for the log
	MaxMessage uint64 // bytes of the largest body
	Clock      *clock.Clock
	Log        zerolog.Logger
	Events     *events.Hub // for the events of alarms; nil: none
	// Block notifies the clients of an alarm, or with "" of its end. Trim asks all queues to page out, Queues counts
	// them. None of them waits.
	Block  func(reason string)
	Trim   func()
	Queues func() int
}

// Monitor watches memory and disk in its own goroutine.
type Monitor struct {
	cfg     Config
	broker  Broker
	meter   Meter
	budget  budget.Budget
	valve   *budget.Valve
	copies  *budget.Copies
	intake  *budget.Intake
	unread  *budget.Unread
	objects *budget.Objects
	kept    budget.Room
	began   time.Time
	stop    chan struct{} // nil if not watching
	gone    chan struct{}

	mu        sync.Mutex
	shortage  alarmState
	release   release
	now       reading // the last
	cut       cutOffs
	announced alarmState    // the published state
	trimmed   time.Duration // time when queues were last asked to page out
}

// NewMonitor returns a monitor that does not watch yet.
func NewMonitor(cfg Config, b Broker) *Monitor {
	a := &Monitor{cfg: cfg, broker: b, meter: cfg.Meter, began: time.Now(), intake: budget.NewIntake(), unread: budget.NewUnread(), objects: budget.NewObjects()}
	a.valve = budget.NewValve(&a.budget)
	a.copies = budget.NewCopies(&a.budget, a.valve)
	if cfg.Meter == nil {
		a.meter, cfg.Watermark = System{Directory: "."}, config.Share(1)
	}
	a.set(cfg.Watermark, cfg.DiskFree)
	return a
}

// Budget counts the bytes and messages that all queues hold in memory.
func (a *Monitor) Budget() *budget.Budget { return &a.budget }

// Valve holds the flow of connections while queues hold too much.
func (a *Monitor) Valve() *budget.Valve { return a.valve }

// Copies rations the copies that the broker makes of messages while queues hold much.
func (a *Monitor) Copies() *budget.Copies { return a.copies }

// Intake decides whose content may be kept while it arrives.
func (a *Monitor) Intake() *budget.Intake { return a.intake }

// Unread bounds the output that clients do not read.
func (a *Monitor) Unread() *budget.Unread { return a.unread }

// Objects bounds what connections have open, queues, exchanges and bindings.
func (a *Monitor) Objects() *budget.Objects { return a.objects }

// Histories bounds the messages that recent-history exchanges keep: they cannot leave memory, so they must not prolong
// an alarm.
func (a *Monitor) Histories() *budget.Room { return &a.kept }

// set passes the limits to their users.
func (a *Monitor) set(watermark, diskFree config.Amount) {
	s := &a.shortage
	s.set(watermark, diskFree, a.meter.Total())
	if a.cfg.Meter == nil {
		return
	}
	a.bound()
	a.valve.SetMax(max(int64(float64(s.limit)*flowShare), 1))
	a.copies.SetMax(max(int64(float64(s.limit)*copyShare), 1))
	begun := max(s.limit/begunShare, 1)
	a.intake.SetLimits(begun, max(begun, int64(a.broker.MaxMessage)+minTransaction))
	a.unread.SetLimit(max(s.limit/unreadShare, 1))
	a.objects.SetLimit(s.limit / objectShare)
	a.kept.SetLimit(max(s.limit/historyShare, 1))
	a.meter.Bound(s.bound())
}

// bound limits what queues hold in memory. During an alarm the limit is half as high: otherwise queues and connections
// together would prolong the alarm. It is lower, down to that, while the entries of messages, which stay in memory, take
// the room.
func (a *Monitor) bound() {
	limit := a.shortage.limit / pageFrom
	least := limit / 2
	if a.shortage.memory {
		limit = least
	}
	rest := int64(float64(a.shortage.limit)*copyShare) - a.budget.Messages()*budget.EntryBytes
	a.budget.SetLimit(max(min(limit, max(rest, least)), 1))
}

// InFlight returns the maximum bytes of a connection on their way to queues, less than usual if there is little memory;
// 0 for the usual number.
func (a *Monitor) InFlight() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cfg.Meter == nil || a.shortage.limit >= amplyFrom {
		return 0
	}
	return max(a.shortage.limit/flightShare, 1)
}

// Watch begins to watch.
func (a *Monitor) Watch() {
	if a.cfg.Meter == nil {
		return
	}
	a.stop, a.gone = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(a.gone)
		timer := time.NewTimer(a.look())
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				timer.Reset(a.look())
			case <-a.stop:
				return
			}
		}
	}()
}

// End stops the watch and waits for its goroutine.
func (a *Monitor) End() {
	if a.stop != nil {
		close(a.stop)
		<-a.gone
	}
}

// look measures and acts on the result. It returns the time until the next measurement.
func (a *Monitor) look() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.read()
	a.release.settle(r, a.meter.Collections())
	if alarm := a.shortage.memory || r.memory > a.shortage.limit; a.release.due(r, alarm, a.meter.Collections(), a.held()) {
		r.memory = a.release.give(a.meter, r, alarm, a.held())
		a.now.memory = r.memory
	}
	a.shortage.look(r)
	a.bound()
	a.announce()
	a.valve.Relieve()
	a.intake.Look(a.broker.Clock.Ran(), a.shortage.memory)
	a.cutOff(r.at)
	a.trim(r.at)
	return a.shortage.next(r)
}

// held returns approximately the bytes of messages in memory.
func (a *Monitor) held() int64 { return a.budget.Used() + a.budget.Messages()*budget.EntryBytes }

func (a *Monitor) read() reading {
	a.now = reading{at: time.Since(a.began), memory: a.meter.Memory(), full: a.valve.Full()}
	a.now.disk, a.now.known = a.meter.Disk()
	return a.now
}

// announce reports a change. Readers learn of it from the valve before the mail is sent, so that they stop reading at
// once.
func (a *Monitor) announce() {
	s := &a.shortage
	reason := s.reason()
	changed := reason != a.announced.reason()
	a.log("memory", a.announced.memory, s.memory)
	a.log("disk", a.announced.disk, s.disk)
	a.announced = *s
	if changed {
		a.valve.SetShut(reason != "")
		a.intake.Pause(reason != "")
		a.broker.Block(reason)
	}
}

func (a *Monitor) log(what string, before, after bool) {
	if before == after {
		return
	}
	name, text := "alarm.cleared", what+" resource limit alarm cleared on node "+a.broker.Name
	if after {
		name = "alarm.set"
		text = what + " resource limit alarm set on node " + a.broker.Name + ": publishers will be blocked until this alarm clears"
	}
	a.broker.Log.Warn().Int64("memory_bytes", a.now.memory).Int64("memory_limit_bytes", a.shortage.limit).Int64("contents_bytes", a.budget.Used()).
		Int64("disk_free_bytes", a.now.disk).Int64("disk_free_limit_bytes", a.shortage.least).Msg(text)
	a.broker.Events.Publish(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: name, Fields: protocol.Table{{Key: "source", Value: what}, {Key: "node", Value: a.broker.Name}}}
	})
}

// trim asks the queues to page out while they hold too much: queues without traffic would not notice by themselves.
func (a *Monitor) trim(at time.Duration) {
	if !a.budget.OverLimit() {
		a.trimmed = 0
		return
	}
	if a.trimmed != 0 && at-a.trimmed < max(time.Second, time.Duration(a.broker.Queues())*time.Second/trimPerTurn) {
		return
	}
	a.trimmed = at
	a.broker.Trim()
}

// SetMemoryWatermark replaces Config.Watermark.
func (a *Monitor) SetMemoryWatermark(to config.Amount) {
	a.change(func(s *alarmState) { a.set(to, s.diskFree) })
}

// SetDiskFreeLimit replaces Config.DiskFree.
func (a *Monitor) SetDiskFreeLimit(to config.Amount) {
	a.change(func(s *alarmState) { a.set(s.watermark, to) })
}

// JournalFull reports that the journal waits for room on the disk, or no longer does. While it waits there is a disk
// alarm at any limit.
func (a *Monitor) JournalFull(full bool) {
	a.change(func(s *alarmState) { s.journalFull = full })
}

// MemoryElsewhere reports that another node of the cluster is short of memory, or no longer is: until then publishers are blocked (CLU-36).
func (a *Monitor) MemoryElsewhere(short bool) {
	a.change(func(s *alarmState) { s.elsewhere = short })
}

// change changes the state with f and measures again at once.
func (a *Monitor) change(f func(*alarmState)) {
	a.mu.Lock()
	f(&a.shortage)
	a.mu.Unlock()
	if a.stop != nil {
		a.look()
	}
}

// Machine describes the process, its machine and the alarms.
func (a *Monitor) Machine() management.Machine {
	m := measure()
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.read()
	a.shortage.describe(&m, r)
	m.Memory = a.uses(r.memory)
	return m
}
