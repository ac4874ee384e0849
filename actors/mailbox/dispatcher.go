package mailbox

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// turnLength is how many mails an actor may handle before the others get their turn. Hot mail is a batch of some 10 µs of
// work, so that a turn stays well under a millisecond.
const turnLength = 32

const (
	// turnTime is how long a turn goes on, behind its first lookEvery mails: there is mail that takes a millisecond.
	turnTime = time.Millisecond
	// lookEvery is after how many mails the clock is looked at. Short turns do not pay for that.
	lookEvery = 4
)

const (
	// spread is how many turns may wait for each caller of Carry before an idle worker is woken to share them.
	spread = 24
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
	running  []*Mailbox // whose turns are under way
	carrying int        // callers of Carry, who will look at turns again
	idle     int        // workers that wait in work and have not been woken; the others will look at turns again
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
func (d *Dispatcher) Schedule(turn func()) { d.schedule(function(turn)) }

func (d *Dispatcher) schedule(t turn) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		go t.process()
		return
	}
	d.turns.push(t)
	d.share()
}

// begin takes the turn that waits longest, nil if none does. mu is held.
func (d *Dispatcher) begin() turn {
	t := d.turns.pop()
	if m, ok := t.(*Mailbox); ok {
		d.running = append(d.running, m)
	}
	return t
}

// end is told what begin has given, also nil. mu is held.
func (d *Dispatcher) end(t turn) {
	if m, ok := t.(*Mailbox); ok {
		i := slices.Index(d.running, m)
		d.running = slices.Delete(d.running, i, i+1)
	}
}

// Load tells how much actors have to do at a moment.
type Load struct {
	Actors  int // that have their turn, or wait for it
	Mails   int // that wait in their mailboxes, without those of the system
	Longest int // mails in the fullest mailbox
}

// Load counts. It takes the longer the more actors wait for their turn, which they go on doing meanwhile.
func (d *Dispatcher) Load() Load {
	d.mu.Lock()
	busy := make(map[*Mailbox]bool, len(d.running)+d.turns.count)
	for _, m := range d.running {
		busy[m] = true
	}
	for t := range d.turns.all() {
		if m, ok := t.(*Mailbox); ok {
			busy[m] = true
		}
	}
	d.mu.Unlock()
	l := Load{Actors: len(busy)}
	for m := range busy {
		n := m.UserMessageCount()
		l.Mails += n
		l.Longest = max(l.Longest, n)
	}
	return l
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
	var t turn
	defer func() { d.carried(t) }()
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

// carried ends a Carry, also one whose post has panicked.
func (d *Dispatcher) carried(last turn) {
	d.mu.Lock()
	d.end(last)
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
		runtime.Gosched() // readers and writers of sockets get their turn too, not only when no actor has work
		d.mu.Lock()
		d.end(t)
	}
}
