package topology

import (
	"sync/atomic"
	"weak"

	"candlemark/internal/measure/queuestats"
)

// QueueStats are the queuestats.Stats of a queue in a virtual host that keeps a list of queues with expiring messages.
// The zero value, and nil, stand for a queue that has not started. It is safe for concurrent use and must not be
// copied. Only the queue sets it, at the end of a turn; costly
// rules are counted by any goroutine.
type QueueStats struct {
	queuestats.Stats

	name   string
	in     *VHost // nil if no list is kept
	listed atomic.Bool

	costly   atomic.Uint64
	failures atomic.Bool
}

// manyGone bounds the list: when it exceeds twice the number of queues by this, entries of deleted queues are removed.
const manyGone = 100

// NewQueueStats returns the QueueStats of a new queue.
func (v *VHost) NewQueueStats(name string) *QueueStats { return &QueueStats{name: name, in: v} }

// CostlyRules returns the number of evaluations of the queue's SQL rules that took too many steps, so that they did not match
// (SBR-2).
func (w *QueueStats) CostlyRules() uint64 {
	if w == nil {
		return 0
	}
	return w.costly.Load()
}

// TakeFailures sets TakesFailures.
func (w *QueueStats) TakeFailures(on bool) {
	if w != nil && w.failures.Load() != on {
		w.failures.Store(on)
	}
}

// TakesFailures reports whether the queue dead-letters messages for which a rule fails (SBR-7).
func (w *QueueStats) TakesFailures() bool { return w != nil && w.failures.Load() }

func (w *QueueStats) countCostly() {
	w.costly.Add(1)
	if w.in != nil {
		w.in.costs.rules.Add(1)
	}
}

// Expiring reports whether the queue holds ready messages with an expiry.
func (w *QueueStats) Expiring() bool { return w != nil && w.Get(queuestats.Expiring) > 0 }

// Leased reports whether the queue has a lease.
func (w *QueueStats) Leased() bool { return w != nil && w.Get(queuestats.Leased) > 0 }

// OldestReady returns since when the oldest ready message waits, in ms of the broker's time, 0 if none is ready (AGE-2).
func (w *QueueStats) OldestReady() int64 {
	if w == nil {
		return 0
	}
	return w.Get(queuestats.OldestReady)
}

// Timed reports whether the queue holds scheduled messages, or deliveries with a settlement deadline.
func (w *QueueStats) Timed() bool { return w != nil && w.Get(queuestats.Timed) > 0 }

// Set stores the values. It adds a queue with expiring messages to the virtual host's list unless it is already there.
func (w *QueueStats) Set(to *queuestats.Values) {
	if w == nil {
		return
	}
	w.Stats.Set(to)
	if to[queuestats.Expiring] > 0 && !w.listed.Load() && w.in != nil {
		w.in.await(w)
	}
}

// await adds a queue to the list.
func (v *VHost) await(w *QueueStats) {
	v.waiting.Lock()
	defer v.waiting.Unlock()
	if len(v.waiting.list) >= 2*v.Directory().QueueCount()+manyGone {
		v.look()
	}
	if !w.listed.Swap(true) {
		v.waiting.list = append(v.waiting.list, weak.Make(w))
	}
}

// Expiring returns the queues that hold ready messages with an expiry, in no order. It checks only queues that have
// held such messages since the last call.
func (v *VHost) Expiring() []*Queue {
	v.waiting.Lock()
	defer v.waiting.Unlock()
	return v.look()
}

// look removes queues without expiring messages from the list and returns the others. The lock is held.
func (v *VHost) look() (queues []*Queue) {
	l, d := &v.waiting, v.Directory()
	kept := l.list[:0]
	for _, listed := range l.list {
		w := listed.Value()
		if w == nil {
			continue
		}
		w.listed.Store(false) // before the check: a queue that gets such messages afterwards adds itself again
		if q := d.Queue([]byte(w.name)); q != nil && q.Stats == w && w.Expiring() {
			w.listed.Store(true)
			queues, kept = append(queues, q), append(kept, listed)
		}
	}
	clear(l.list[len(kept):])
	l.list = kept
	return queues
}
