package budget

import (
	"slices"
	"sync"
	"time"
)

// The progress required of connections that hold memory with unfinished contents while others wait for it.
const (
	// Window is the period over which progress is measured.
	Window = 30 * time.Second
	// SlowestRate is the minimum rate of each content within a Window, bytes/s.
	SlowestRate = 64 << 10
)

// Intake bounds incomplete contents and open transactions of clients. All of a broker's connections share it.
//
// A content asks for room before any of its body is kept, for as much as its header announces. Contents without room
// wait for contents that hold room, oldest first, and hold none themselves. So some content can always be finished:
//
//   - While nothing is held, a content of any size gets room.
//   - A connection that waits with one content and holds room with another completes neither. When all connections that
//     hold room wait like that, the oldest of them gets room beyond the limit, up to twice the limit, or is refused.
//   - A connection that holds room while others wait, or while memory is short, and
//     sends less than SlowestRate of one of its contents throughout a Window, is
//     evicted. Its other traffic does not count.
//
// During an alarm no content gets room. A transaction never waits: it is refused if there is no room. Safe for
// concurrent use; nil has no bounds.
type Intake struct {
	mu           sync.Mutex
	limit        int64 // of contents, 0 for none
	transactions int64 // bytes of uncommitted work, 0 for no bound
	paused       bool
	held, kept   int64 // contents, and uncommitted work
	lines        map[*Arrivals]struct{}
	running      int // connections with room whose contents do not wait
	queue        []*Arrival
	began        time.Duration // start of the window; 0 if none runs
	answers      []answer      // to be given after mu is released
}

type answer struct {
	decided func(number uint64, granted bool)
	number  uint64
	granted bool
}

// NewIntake returns an Intake without bounds.
func NewIntake() *Intake { return &Intake{lines: map[*Arrivals]struct{}{}} }

// SetLimits sets the maximum bytes of incomplete contents, and of transactions; 0 for no limit.
func (i *Intake) SetLimits(contents, transactions int64) {
	defer i.admit()
	i.mu.Lock()
	i.limit, i.transactions = contents, transactions
}

// Pause stops giving room to new contents, or permits it again.
func (i *Intake) Pause(paused bool) {
	defer i.admit()
	i.mu.Lock()
	i.paused = paused
}

// Used returns the bytes that incomplete contents, and transactions, hold.
func (i *Intake) Used() (contents, transactions int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.held, i.kept
}

// Look evicts connections that make no progress. short reports that memory is short; at is how long the broker has run,
// which never decreases. The memory monitor calls it every second or more often.
func (i *Intake) Look(at time.Duration, short bool) {
	i.mu.Lock()
	wanted := len(i.queue) > 0
	var slow []*Arrivals
	switch {
	case !short && !wanted:
		i.began = 0
	case i.began == 0:
		i.began = max(at, 1)
		for a := range i.lines {
			a.look(0, short)
		}
	case at-i.began >= Window:
		least := int64(SlowestRate * (at - i.began) / time.Second)
		i.began = max(at, 1)
		for a := range i.lines {
			if a.look(least, short) {
				slow = append(slow, a)
			}
		}
	}
	i.mu.Unlock()
	for _, a := range slow {
		if !a.peer.Excused() {
			a.peer.Evict()
		}
	}
}

// admit gives available room to waiting contents, and unlocks.
func (i *Intake) admit() {
	for len(i.queue) > 0 && !i.paused && i.fits(i.queue[0].bytes, 1) {
		i.decide(0, true)
	}
	for i.held > 0 && i.running == 0 {
		n := slices.IndexFunc(i.queue, func(a *Arrival) bool { return a.of.contents > 0 })
		if n < 0 {
			break
		}
		i.decide(n, i.fits(i.queue[n].bytes, 2))
	}
	answers := i.answers
	i.answers = nil
	i.mu.Unlock()
	for _, a := range answers {
		a.decided(a.number, a.granted)
	}
}

func (i *Intake) fits(bytes, times int64) bool {
	return i.held == 0 || i.limit == 0 || i.held+bytes <= times*i.limit
}

// decide answers a waiting content.
func (i *Intake) decide(n int, granted bool) {
	who := i.queue[n]
	i.queue = slices.Delete(i.queue, n, n+1)
	i.change(who.of, func(a *Arrivals) {
		a.waiting--
		a.stuck.Store(a.waiting > 0)
		if granted {
			i.take(who)
		}
	})
	if !granted {
		who.stage = none
	}
	who.of.wakeUp()
	i.answers = append(i.answers, answer{who.decided, who.number, granted})
}

// take gives room to a content.
func (i *Intake) take(who *Arrival) {
	who.stage, who.fresh = admitted, true
	who.of.contents += who.bytes
	who.of.admitted = append(who.of.admitted, who)
	i.held += who.bytes
}

// change alters the counts of a connection and updates the totals.
func (i *Intake) change(a *Arrivals, f func(*Arrivals)) {
	if a.runs() {
		i.running--
	}
	f(a)
	if a.runs() {
		i.running++
	}
	total := a.contents + a.kept
	if before := a.held.Swap(total); before == 0 && total > 0 {
		i.lines[a] = struct{}{}
		a.fresh = true
		a.wakeUp()
	} else if total == 0 {
		delete(i.lines, a)
	}
}
