package topology

import "sync/atomic"

// Waits tell what a queue waits for at present, so that those who look for that need not ask all queues. The zero value is nothing, and so is nil. They
// are safe for concurrent use and must not be copied. Only the queue sets them, at the end of a turn.
type Waits struct{ expiring, leased atomic.Bool }

// Expiring reports whether the queue holds ready messages that expire.
func (w *Waits) Expiring() bool { return w != nil && w.expiring.Load() }

// Leased reports whether it ends when nobody uses it.
func (w *Waits) Leased() bool { return w != nil && w.leased.Load() }

// Set is called by the queue. It costs next to nothing where nothing changes.
func (w *Waits) Set(expiring, leased bool) {
	if w == nil {
		return
	}
	if w.expiring.Load() != expiring {
		w.expiring.Store(expiring)
	}
	if w.leased.Load() != leased {
		w.leased.Store(leased)
	}
}
