package budget

import (
	"slices"
	"sync/atomic"
)

// FreeArrival is the number of bytes of incomplete contents that each connection may hold without asking, so that small
// messages never wait.
const FreeArrival = 64 << 10

// Peer is the intake's interface to a connection. Its methods are called from any goroutine.
type Peer interface {
	// Excused reports whether slow input is not the client's fault.
	Excused() bool
	// Evict closes the connection.
	Evict()
}

// Arrivals counts the incomplete contents of one connection. Nil has no bounds.
type Arrivals struct {
	intake *Intake
	peer   Peer
	free   atomic.Int64 // bytes of contents within FreeArrival
	held   atomic.Int64 // contents and kept
	stuck  atomic.Bool  // waiting is more than 0
	wake   chan struct{}

	// Under the intake's lock:
	contents int64      // bytes of room that contents have
	admitted []*Arrival // contents that have room
	kept     int64      // bytes of transactions
	brought  int64      // bytes of transactions since the last look
	waiting  int        // contents that wait for room
	fresh    bool       // it held nothing at the last look
}

// Of returns the Arrivals of a new connection.
func (i *Intake) Of(peer Peer) *Arrivals {
	if i == nil {
		return nil
	}
	return &Arrivals{intake: i, peer: peer, wake: make(chan struct{}, 1)}
}

// Stuck reports whether a content waits for room, so that nothing more should be
// read from the connection.
func (a *Arrivals) Stuck() bool { return a != nil && a.stuck.Load() }

// Held returns the bytes of the connection's incomplete contents and transactions, without free ones. A content counts
// with its whole size from the beginning.
func (a *Arrivals) Held() int64 {
	if a == nil {
		return 0
	}
	return a.held.Load()
}

// Changed returns a channel that gets a token when Stuck or Held changes. Only the connection's reader may wait for it.
// Nil never gets one.
func (a *Arrivals) Changed() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.wake
}

// Wait blocks while the connection is stuck; false means that done was closed.
func (a *Arrivals) Wait(done <-chan struct{}) bool {
	for a.Stuck() {
		select {
		case <-a.wake:
		case <-done:
			return false
		}
	}
	return true
}

// Keep counts bytes of a transaction; ok is false if there is no room for them. limit is the maximum of all
// transactions together.
func (a *Arrivals) Keep(bytes int64) (ok bool, limit int64) {
	if a == nil {
		return true, 0
	}
	i := a.intake
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.transactions > 0 && i.kept+bytes > i.transactions {
		return false, i.transactions
	}
	i.kept += bytes
	i.change(a, func(a *Arrivals) {
		a.kept += bytes
		a.brought += bytes
	})
	return true, 0
}

// Drop undoes Keep.
func (a *Arrivals) Drop(bytes int64) {
	if a == nil || bytes == 0 {
		return
	}
	i := a.intake
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kept -= bytes
	i.change(a, func(a *Arrivals) { a.kept -= bytes })
}

func (a *Arrivals) wakeUp() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *Arrivals) runs() bool { return a.contents > 0 && a.waiting == 0 }

// look reports whether the client is too slow: fewer than least bytes have come since the last look for one of its
// contents or, while memory is short, for a transaction.
func (a *Arrivals) look(least int64, short bool) (slow bool) {
	brought := a.brought
	for _, r := range a.admitted {
		came := r.came.Swap(0)
		brought += came
		slow = slow || came < least && !r.fresh
		r.fresh = false
	}
	slow = slow || short && a.kept > 0 && brought < least && !a.fresh
	a.brought, a.fresh = 0, false
	return slow
}

// Arrival is the room of one incomplete content. The zero value has none. It belongs to one goroutine at a time, and
// must not be moved while it waits.
type Arrival struct {
	of    *Arrivals // nil without room
	free  bool      // within FreeArrival
	bytes int64
	came  *atomic.Int64 // bytes since the last look
	// Under the intake's lock:
	stage   stage
	fresh   bool // admitted after the last look
	number  uint64
	decided func(number uint64, granted bool)
}

type stage uint8

const (
	none stage = iota
	waits
	admitted
)

// Ask asks for room for that many bytes; false means that the caller has to wait. Then decided is called once, from any
// goroutine, with number, unless Return is called before. It may still be called if Return runs at the same time.
func (r *Arrival) Ask(a *Arrivals, bytes int64, number uint64, decided func(number uint64, granted bool)) (now bool) {
	if a == nil {
		return true
	}
	r.of, r.bytes = a, bytes
	if bytes <= FreeArrival {
		if a.free.Add(bytes) <= FreeArrival {
			r.free = true
			return true
		}
		a.free.Add(-bytes)
	}
	r.came = new(atomic.Int64)
	i := a.intake
	i.mu.Lock()
	if len(i.queue) == 0 && !i.paused && i.fits(bytes, 1) {
		i.change(a, func(*Arrivals) { i.take(r) })
		i.mu.Unlock()
		return true
	}
	r.stage, r.number, r.decided = waits, number, decided
	i.queue = append(i.queue, r)
	i.change(a, func(a *Arrivals) {
		a.waiting++
		a.stuck.Store(true)
	})
	i.admit()
	return false
}

// Came reports that more bytes of the content have arrived.
func (r *Arrival) Came(bytes int) {
	if r.came != nil {
		r.came.Add(int64(bytes))
	}
}

// Return releases the room, or stops waiting for it. Later calls do nothing.
func (r *Arrival) Return() {
	if r.of == nil {
		return
	}
	a, i := r.of, r.of.intake
	if r.free {
		a.free.Add(-r.bytes)
		*r = Arrival{}
		return
	}
	i.mu.Lock()
	switch r.stage {
	case admitted:
		i.held -= r.bytes
		i.change(a, func(a *Arrivals) {
			a.contents -= r.bytes
			a.admitted = slices.DeleteFunc(a.admitted, func(x *Arrival) bool { return x == r })
		})
	case waits:
		i.queue = slices.DeleteFunc(i.queue, func(w *Arrival) bool { return w == r })
		i.change(a, func(a *Arrivals) {
			a.waiting--
			a.stuck.Store(a.waiting > 0)
		})
		a.wakeUp()
	case none:
	}
	*r = Arrival{}
	i.admit()
}
