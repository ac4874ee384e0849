package mailbox

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// turnLength is how many mails an actor may handle before the others get their turn. Hot mail is a batch of some 10 µs of
// work, so that a turn stays well under a millisecond.
const turnLength = 32

// Dispatcher runs the turns of one broker's actors on a few worker goroutines, first come, first served.
type Dispatcher struct {
	mu      sync.Mutex
	work    sync.Cond // signalled for each turn that finds a worker idle
	turns   ring
	idle    int // workers that wait in work and have not been signalled
	stopped bool
	workers sync.WaitGroup
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
	wake := d.idle > 0
	if wake {
		d.idle--
	}
	d.mu.Unlock()
	if wake {
		d.work.Signal()
	}
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
