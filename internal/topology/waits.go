package topology

import (
	"sync/atomic"
	"weak"

	"candlemark/internal/figures"
)

// Waits tell how a queue is at present, so that those who want to know need not ask all queues. The zero value is a queue that has not begun, and so
// is nil. They are safe for concurrent use and must not be copied. Only the queue sets them, at the end of a turn.
type Waits struct {
	figures.Figures

	name   string
	in     *VHost // nil for nobody who looks
	listed atomic.Bool
}

// manyGone is how many of them there may be besides twice as many as there are queues; beyond that those that are gone are forgotten.
const manyGone = 100

// NewWaits makes those of a queue of that name.
func (v *VHost) NewWaits(name string) *Waits { return &Waits{name: name, in: v} }

// Expiring reports whether the queue holds ready messages that expire.
func (w *Waits) Expiring() bool { return w != nil && w.Get(figures.Expiring) > 0 }

// Leased reports whether it ends when nobody uses it.
func (w *Waits) Leased() bool { return w != nil && w.Get(figures.Leased) > 0 }

// Timed reports whether it holds scheduled messages, or deliveries that have to be settled in time.
func (w *Waits) Timed() bool { return w != nil && w.Get(figures.Timed) > 0 }

// Set is called by the queue. A queue gets onto the list once for each time that somebody looks.
func (w *Waits) Set(to *figures.Values) {
	if w == nil {
		return
	}
	w.Tell(to)
	if to[figures.Expiring] > 0 && !w.listed.Load() && w.in != nil {
		w.in.await(w)
	}
}

// await puts a queue onto the list.
func (v *VHost) await(w *Waits) {
	v.waiting.Lock()
	defer v.waiting.Unlock()
	if len(v.waiting.list) >= 2*v.Directory().QueueCount()+manyGone {
		v.look()
	}
	if !w.listed.Swap(true) {
		v.waiting.list = append(v.waiting.list, weak.Make(w))
	}
}

// Expiring returns the queues that hold ready messages that expire, in no order. It looks at those, and at those that had such since the last call.
func (v *VHost) Expiring() []*Queue {
	v.waiting.Lock()
	defer v.waiting.Unlock()
	return v.look()
}

// look forgets all others. The lock is held.
func (v *VHost) look() (queues []*Queue) {
	l, d := &v.waiting, v.Directory()
	kept := l.list[:0]
	for _, listed := range l.list {
		w := listed.Value()
		if w == nil {
			continue
		}
		w.listed.Store(false) // a queue that has some from here on comes again
		if q := d.Queue([]byte(w.name)); q != nil && q.Waits == w && w.Expiring() {
			w.listed.Store(true)
			queues, kept = append(queues, q), append(kept, listed)
		}
	}
	clear(l.list[len(kept):])
	l.list = kept
	return queues
}
