package mailbox

import (
	"runtime"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// turnLength is how many mails an actor may handle before the others get their turn. Hot mail is a batch of some 10 µs of
// work, so that a turn stays well under a millisecond.
const turnLength = 32

const (
	// spread is how many turns may wait for each caller of Carry before an idle worker is woken to share them.
	spread = 2
	// carryLimit and carryTime are for how many turns and how long Carry keeps a caller from what it does otherwise.
	carryLimit = 64
	carryTime  = 200 * time.Microsecond
)

// Dispatcher runs the turns of one broker's actors on a few worker goroutines, and on those that call Carry, first
// come, first served.
type Dispatcher struct {
	mu       sync.Mutex
	work     sync.Cond // signalled for each worker that is woken
	turns    ring
	carrying int // callers of Carry, who will look at turns again
	idle     int // workers that wait in work and have not been woken; the others will look at turns again
	stopped  bool
	workers  sync.WaitGroup
}

var _ actor.Dispatcher = (*Dispatcher)(nil)

// NewDispatcher starts workers goroutines, GOMAXPROCS of them when workers < 1. They end with Stop.
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

// Schedule appends turn to the run queue. It never blocks. After Stop the turn gets a goroutine of its own, so that
// actors that outlive the pool still stop in order.
func (d *Dispatcher) Schedule(turn func()) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		go turn()
		return
	}
	d.turns.push(turn)
	d.share()
}

// share unlocks mu and wakes a worker if there is more to do than the callers of Carry should do alone. Whenever mu is
// free and a turn waits, somebody will look: a caller of Carry, a worker that runs or is woken, or both.
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

// Carry calls post, and then runs turns in the caller's goroutine: those that post has scheduled, those that these
// schedule in turn, and what else waits, until there are none or the caller has done its share. So what a socket brings is
// carried to where it leaves by the goroutine that read it, and nobody else is woken. With all workers at work it only
// calls post. The caller may hold no lock and may be no actor.
func (d *Dispatcher) Carry(post func()) {
	d.mu.Lock()
	if d.idle == 0 { // all processors are at work on turns already
		d.mu.Unlock()
		post()
		return
	}
	d.carrying++
	d.mu.Unlock()
	defer d.carried()
	post()
	var began time.Time
	for n := range carryLimit {
		d.mu.Lock()
		turn := d.turns.pop()
		d.mu.Unlock()
		if turn == nil {
			return
		}
		turn()
		switch {
		case n == 0:
			began = time.Now()
		case time.Since(began) > carryTime:
			return
		}
	}
}

// carried ends a Carry, also one whose post has panicked.
func (d *Dispatcher) carried() {
	d.mu.Lock()
	d.carrying--
	d.share()
}

// Throughput returns how many mails an actor may handle in one turn.
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
		turn := d.turns.pop()
		if turn == nil {
			if d.stopped {
				return
			}
			d.idle++
			d.work.Wait()
			continue
		}
		d.mu.Unlock()
		turn()
		runtime.Gosched() // readers and writers of sockets get their turn too, not only when no actor has work
		d.mu.Lock()
	}
}
