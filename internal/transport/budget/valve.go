package budget

import (
	"math"
	"sync"
	"sync/atomic"
)

// Valve holds back publishing connections. There are two reasons:
//
//   - Flow: queues hold so much that publishers wait until some of it has left memory. It lasts milliseconds and
//     clients are not notified. Readers check the current counts of the queues themselves, so that no burst can exceed
//     the limit between two measurements of memory.
//   - An alarm: the broker is short of memory or disk. It is set by the monitor, and clients are notified.
//
// Safe for concurrent use; nil is always open.
type Valve struct {
	budget *Budget
	limit  atomic.Int64 // bytes of contents, 0 for no bound
	shut   atomic.Bool  // in an alarm

	mu     sync.Mutex
	relief chan struct{} // closed when waiters check again; nil without waiters
}

// NewValve returns an open valve that checks b; nil for no flow control.
func NewValve(b *Budget) *Valve { return &Valve{budget: b} }

// SetMax sets the bytes of contents above which flow is held; 0 or less for never.
func (v *Valve) SetMax(bytes int64) { v.limit.Store(max(bytes, 0)) }

// Full reports whether queues hold more than Max.
func (v *Valve) Full() bool {
	if v == nil {
		return false
	}
	limit := v.limit.Load()
	return limit > 0 && v.budget.Used() > limit
}

// Max returns the bytes above which flow is held, math.MaxInt64 for never.
func (v *Valve) Max() int64 {
	if limit := v.limit.Load(); limit > 0 {
		return limit
	}
	return math.MaxInt64
}

// Shut reports whether there is an alarm.
func (v *Valve) Shut() bool { return v != nil && v.shut.Load() }

// SetShut begins or ends an alarm.
func (v *Valve) SetShut(shut bool) {
	v.shut.Store(shut)
	v.Relieve()
}

// Wait blocks while flow is held, but not during an alarm; false means that done was closed.
func (v *Valve) Wait(done <-chan struct{}) bool {
	for v.Full() && !v.Shut() {
		relief := v.waiting()
		if !v.Full() || v.Shut() {
			return true
		}
		select {
		case <-relief:
		case <-done:
			return false
		}
	}
	return true
}

func (v *Valve) waiting() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.relief == nil {
		v.relief = make(chan struct{})
	}
	return v.relief
}

// Relieve lets waiting connections continue if memory is below the limit again. The memory monitor calls it every few
// milliseconds while any wait. waiting reports whether any still do.
func (v *Valve) Relieve() (waiting bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.relief == nil || v.Full() && !v.Shut() {
		return v.relief != nil
	}
	close(v.relief)
	v.relief = nil
	return false
}
