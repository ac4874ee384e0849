package mailbox

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// turnLength is the number of mails that an actor may handle before other actors run. Frequent mail is a batch of some
// 10 µs of work, so such a turn takes much less than a millisecond.
const turnLength = 32

const (
	// turnTime ends a turn after its first lookEvery mails, since some mail takes a millisecond.
	turnTime = time.Millisecond
	// lookEvery is the number of mails between two readings of the clock, which short turns do not need.
	lookEvery = 4
)

const (
	// spread is the number of turns that may wait per caller of Carry before an idle worker is woken to share them.
	spread = 24
	// carryLimit and carryTime limit the turns and the time for which Carry occupies a caller.
	carryLimit = 64
	carryTime  = 200 * time.Microsecond
)

// Dispatcher runs the turns of one broker's actors on a few worker goroutines, and on the callers of Carry, in order of
// arrival.
type Dispatcher struct {
	// Due, unless nil, is called by Carry before post: it makes calls of timers that are due, as the caller is awake. Set it
	// before the first Carry.
	Due func()

	mu       sync.Mutex
	work     sync.Cond // signalled once for each worker to wake
	turns    ring
	running  []*Mailbox // mailboxes whose turns are running
	carrying int        // number of callers of Carry, which will check for turns again
	idle     int        // number of workers that wait in work and are not woken; other workers will check for turns again
	stopped  bool
	begun    uint64 // number of turns scheduled so far
	others   int    // number of running turns of Schedule
	workers  sync.WaitGroup
}

var _ actor.Dispatcher = (*Dispatcher)(nil)

// NewDispatcher starts workers goroutines, GOMAXPROCS of them if workers < 1. They end with Stop.
func NewDispatcher(workers int) *Dispatcher {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	d := &Dispatcher{}
	d.work.L = &d.mu
	for range workers {
		d.workers.Go(d.serve)
	}
	return d
}

// Schedule appends turn to the run queue. It never blocks. After Stop the turn runs on its own goroutine, so that
// actors that outlive the pool still stop in order.
func (d *Dispatcher) Schedule(turn func()) { d.schedule(function(turn)) }

func (d *Dispatcher) schedule(t turn) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		go t.process()
		return
	}
	d.begun++
	d.turns.push(t)
	d.share()
}

// begin removes and returns the oldest turn, nil if there is none. mu is held.
func (d *Dispatcher) begin() turn {
	t := d.turns.pop()
	if m, ok := t.(*Mailbox); ok {
		d.running = append(d.running, m)
	} else if t != nil {
		d.others++
	}
	return t
}

// end is called with the result of begin after its turn, even if nil. mu is held.
func (d *Dispatcher) end(t turn) {
	if m, ok := t.(*Mailbox); ok {
		i := slices.Index(d.running, m)
		d.running = slices.Delete(d.running, i, i+1)
	} else if t != nil {
		d.others--
	}
}

// Quiet reports whether no turn waits or runs, and how many were scheduled so far. A mailbox with mail has such a turn, unless its actor
// has not started or is suspended after a panic. If two calls return true and the same number, then no turn ran in between.
func (d *Dispatcher) Quiet() (scheduled uint64, quiet bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun, d.turns.count == 0 && len(d.running) == 0 && d.others == 0
}

// share unlocks mu and wakes a worker if there are more turns than the callers of Carry should run alone. Invariant:
// if mu is free and a turn waits, then a caller of Carry, or a worker that runs or was woken, will check for it.
func (d *Dispatcher) share() {
	wake := d.idle > 0 && d.turns.count > spread*d.carrying
	if wake {
		d.idle--
	}
	d.mu.Unlock()
	if wake {
		d.work.Signal()
	}
}

// Carry calls post, and then runs turns on the caller's goroutine: turns that post has scheduled, turns scheduled by
// these, and any others, until there are none or the caller has reached its limits. So the goroutine that reads a
// socket carries the data to the outgoing socket, and no other goroutine is woken. If all workers are busy it only
// calls post. The caller must hold no lock and must not be an actor.
func (d *Dispatcher) Carry(post func()) {
	d.mu.Lock()
	if d.idle == 0 { // all processors already run turns
		d.mu.Unlock()
		d.due()
		post()
		return
	}
	d.carrying++
	d.mu.Unlock()
	var t turn
	defer func() { d.carried(t) }()
	d.due()
	post()
	var began time.Time
	for n := range carryLimit {
		d.mu.Lock()
		d.end(t)
		t = d.begin()
		d.mu.Unlock()
		if t == nil {
			return
		}
		t.process()
		switch {
		case n == 0:
			began = time.Now()
		case time.Since(began) > carryTime:
			return
		}
	}
}

func (d *Dispatcher) due() {
	if d.Due != nil {
		d.Due()
	}
}

// carried ends a Carry, also after a panic in post.
func (d *Dispatcher) carried(last turn) {
	d.mu.Lock()
	d.end(last)
	d.carrying--
	d.share()
}

// Throughput returns the maximum number of mails in one turn.
func (d *Dispatcher) Throughput() int { return turnLength }

// Stop lets the workers finish the run queue and waits until they have ended. It must not be called from an actor.
// A second Stop only waits.
func (d *Dispatcher) Stop() {
	d.mu.Lock()
	d.stopped = true
	d.mu.Unlock()
	d.work.Broadcast()
	d.workers.Wait()
}

// serve is one worker.
func (d *Dispatcher) serve() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		t := d.begin()
		if t == nil {
			if d.stopped {
				return
			}
			d.idle++
			d.work.Wait()
			continue
		}
		d.mu.Unlock()
		t.process()
		runtime.Gosched() // lets readers and writers of sockets run before the actors are idle
		d.mu.Lock()
		d.end(t)
	}
}
