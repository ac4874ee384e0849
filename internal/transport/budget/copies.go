package budget

import (
	"sync"
	"sync/atomic"
	"time"
)

// EntryBytes is the approximate memory of a message in a queue without its content, in bytes.
const EntryBytes = 58

// The ration of copies while memory is scarce (DL-33).
const (
	// copyBurst is the number of copies by which queues may grow at once.
	copyBurst = 2000
	// copyRate is the number of copies per second made in any case, so that a consumer who waits for a copy gets it even
	// if only messages that wait to be copied hold the memory.
	copyRate = 100
	// copyCatchUp is the time in which the ceiling follows messages that were not copies.
	copyCatchUp = 10 * time.Second
	// copyLook is the minimum time between two looks at the number of messages, copyWake the pause before waiting actors
	// ask again, copyAnyway the pause after which they ask although nothing has changed.
	copyLook   = 20 * time.Millisecond
	copyWake   = 20 * time.Millisecond
	copyAnyway = time.Second
)

// Copies decides when the broker may copy a message to several queues without a publisher: a publisher pays with its
// socket, which is not read while memory is short; a message that queues pass on among themselves has none.
//
// While memory is scarce, copies are made only in place of messages that leave their queues, and a few in any case.
// That is so at a lower use of memory than the one at which publishers wait: copies never make publishers wait.
//
// Safe for concurrent use; nil permits everything.
type Copies struct {
	budget *Budget
	valve  *Valve
	limit  atomic.Int64 // bytes of contents and entries, 0 for no bound
	began  time.Time

	mu      sync.Mutex
	ration  ration
	waiting []func()
	ticking bool
	woken   time.Duration
}

// NewCopies returns a Copies that checks the messages in b, and the alarms of v.
func NewCopies(b *Budget, v *Valve) *Copies { return &Copies{budget: b, valve: v, began: time.Now()} }

// SetMax sets the bytes of contents and entries above which memory is scarce; 0 or less for never.
func (c *Copies) SetMax(bytes int64) { c.limit.Store(max(bytes, 0)) }

// Scarce reports whether copies are rationed: queues hold much, or there is an alarm.
func (c *Copies) Scarce() bool {
	if c == nil {
		return false
	}
	limit := c.limit.Load()
	return limit > 0 && c.budget.Used()+c.budget.Messages()*EntryBytes > limit || c.valve.Shut()
}

// Ask asks for n copies at once, besides the message itself; false: not now, see Await. More copies than the ration
// allows are permitted when nothing has been taken from it for a while.
func (c *Copies) Ask(n int) bool {
	if !c.Scarce() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ration.take(int64(n), c.budget.Messages(), time.Since(c.began))
}

// Held reports whether publishers wait: so do publishes for several queues that have been read already. They ask for
// their copies, and are sent when they get them.
func (c *Copies) Held() bool { return c != nil && (c.valve.Shut() || c.valve.Full()) }

// Await calls wake once, from another goroutine, when it is worth asking again: after 20 ms to a second.
func (c *Copies) Await(wake func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting = append(c.waiting, wake); !c.ticking {
		c.ticking = true
		time.AfterFunc(copyWake, c.tick)
	}
}

// tick wakes waiting actors if some may get copies.
func (c *Copies) tick() {
	scarce, now := c.Scarce(), time.Since(c.began)
	c.mu.Lock()
	if scarce && now-c.woken < copyAnyway && !c.ration.some(c.budget.Messages(), now) {
		time.AfterFunc(copyWake, c.tick)
		c.mu.Unlock()
		return
	}
	list := c.waiting
	c.waiting, c.ticking, c.woken = nil, false, now
	c.mu.Unlock()
	for _, wake := range list {
		wake()
	}
}

// ration limits the growth of queues by copies. The zero value is ready. Times are since any start.
type ration struct {
	begun   bool
	ceiling float64 // number of messages in queues up to which copies are made
	count   int64   // of messages in queues, at the last look
	granted int64   // copies since then, and half of the earlier ones
	looked  time.Duration
}

// take takes n copies, if there is room for them or nothing at all is taken.
func (r *ration) take(n, count int64, now time.Duration) bool {
	room := r.look(count, now)
	if n > room && room < copyBurst {
		return false
	}
	r.granted += n
	return true
}

// some reports whether there is room for a copy.
func (r *ration) some(count int64, now time.Duration) bool { return r.look(count, now) > 0 }

// look updates the ceiling, which follows the number of messages down at once, and up slowly. It returns how many copies
// may be made.
func (r *ration) look(count int64, now time.Duration) (room int64) {
	if passed := now - r.looked; !r.begun || passed >= copyLook {
		if !r.begun {
			r.begun, r.ceiling = true, float64(count+copyBurst)
		}
		r.ceiling += max(float64(count)-r.ceiling, 0)*min(passed.Seconds()/copyCatchUp.Seconds(), 1) + copyRate*passed.Seconds()
		r.ceiling = min(r.ceiling, float64(count+copyBurst))
		r.count, r.granted, r.looked = count, r.granted/2, now
	}
	return int64(r.ceiling) - r.count - r.granted
}
