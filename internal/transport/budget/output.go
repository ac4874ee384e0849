package budget

import (
	"sync/atomic"
	"time"
)

// Output counts the unread bytes of one connection, or of the answer to one request. Nil has no bounds.
type Output struct {
	of   *Unread
	name string // of the user
	user *reader
	cut  func()

	used    atomic.Int64
	booked  atomic.Int64 // of used, in the counts of the user and of all; changed under the lock
	low     atomic.Int64 // used at which waiting functions are called; never if there are none
	excused atomic.Bool

	// Under the lock of Unread:
	parts   map[*Part]struct{}
	waiting []func()
	since   time.Duration // start of the window in which its progress is measured, 0 if none runs
	closed  bool
}

// never is less than any number of bytes that an Output uses.
const never = -1

// Part is the unread output of one channel, session or answer, or the outbox of a connection: its progress is measured
// separately, and what it holds is returned when it ends. Nil has no bounds.
type Part struct {
	of    *Output
	used  atomic.Int64 // negative once the part is closed
	moved atomic.Int64 // bytes returned so far

	// Under the lock of Unread, at the start of the window:
	held, before int64 // used and moved
}

const closedPart = -1 << 62

// Part adds a part. Close it.
func (o *Output) Part() *Part {
	if o == nil {
		return nil
	}
	p := &Part{of: o}
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.parts[p] = struct{}{}
	return p
}

// Used returns the unread bytes.
func (o *Output) Used() int64 {
	if o == nil {
		return 0
	}
	return max(o.used.Load(), 0)
}

// Excuse tells whether a lack of progress is the broker's fault.
func (o *Output) Excuse(excused bool) {
	if o != nil {
		o.excused.Store(excused)
	}
}

// Close returns everything, even the bytes of open parts. Functions that wait for room are not called.
func (o *Output) Close() {
	if o == nil {
		return
	}
	u := o.of
	u.mu.Lock()
	if o.closed {
		u.mu.Unlock()
		return
	}
	o.closed = true
	for p := range o.parts {
		o.used.Add(-p.end())
	}
	clear(o.parts)
	o.waked()
	delete(u.waiting, o)
	delete(o.user.waiting, o)
	calls := o.book()
	if o.user.outputs--; o.user.outputs == 0 {
		delete(u.users, o.name)
	}
	u.mu.Unlock()
	for _, f := range calls {
		f()
	}
}

// Take counts bytes on their way to the client. It never refuses: ask Room first.
func (p *Part) Take(bytes int64) {
	if p == nil || bytes == 0 || p.used.Add(bytes) < 0 {
		return
	}
	o := p.of
	if used := o.used.Add(bytes); used > FreeUnread+o.booked.Load() {
		o.settle()
	}
}

// Return counts bytes that were taken and that the client has read, or that were dropped.
func (p *Part) Return(bytes int64) {
	if p == nil || bytes == 0 {
		return
	}
	p.moved.Add(bytes)
	if p.used.Add(-bytes) < 0 {
		return
	}
	p.of.returned(bytes)
}

// Close returns what the part holds. Later calls of Take and Return have no effect.
func (p *Part) Close() {
	if p == nil {
		return
	}
	o := p.of
	o.of.mu.Lock()
	delete(o.parts, p)
	o.of.mu.Unlock()
	o.returned(p.end())
}

// end closes the part and returns what it holds.
func (p *Part) end() int64 { return max(p.used.Swap(closedPart), 0) }

// Room reports whether the connection may get that many bytes more.
func (p *Part) Room(bytes int64) bool { return p == nil || p.of.room(bytes) }

// Pressed reports whether the client has to read before it is sent more than a little: its user, or all together, have
// no room left.
func (p *Part) Pressed() bool {
	return p != nil && (over(&p.of.user.used, &p.of.of.share) || p.of.of.full())
}

// WhenRoom calls f once, from any goroutine, when there may be room for that many bytes, or never if the connection ends.
// f must not block nor call back.
func (p *Part) WhenRoom(bytes int64, f func()) {
	if p == nil {
		f()
		return
	}
	o, u := p.of, p.of.of
	u.mu.Lock()
	if o.closed {
		u.mu.Unlock()
		return
	}
	o.waiting = append(o.waiting, f)
	low := int64(never)
	switch {
	case u.full():
		u.waiting[o] = struct{}{}
	case over(&o.user.used, &u.share):
		o.user.waiting[o] = struct{}{}
	default:
		each := u.each.Load()
		low = each - each/8
	}
	if bytes <= FreeUnread {
		low = max(low, min(FreeUnread/2, FreeUnread-bytes))
	}
	o.low.Store(max(low, o.low.Load()))
	var calls []func()
	if o.room(bytes) || o.used.Load() <= o.low.Load() {
		calls = o.waked()
	}
	u.mu.Unlock()
	for _, f := range calls {
		f()
	}
}

func (o *Output) room(bytes int64) bool {
	used := o.used.Load()
	return used+bytes <= FreeUnread || used < o.of.each.Load() && o.admitted()
}

// Admits reports whether more may be collected for the user. A user who holds almost nothing is always admitted, even
// if others hold much.
func (o *Output) Admits() bool {
	return o == nil || o.admitted() || o.user.used.Load() < FreeUnread
}

func (o *Output) admitted() bool { return !over(&o.user.used, &o.of.share) && !o.of.full() }

// returned counts bytes less.
func (o *Output) returned(bytes int64) {
	used, booked := o.used.Add(-bytes), o.booked.Load()
	if used <= o.low.Load() || booked > 0 && (used <= FreeUnread/2 || used < FreeUnread+booked-2*bookStep) {
		o.settle()
	}
}

// settle updates the counts that the output shares with others.
func (o *Output) settle() {
	u := o.of
	u.mu.Lock()
	calls := o.book()
	if o.used.Load() <= o.low.Load() {
		calls = append(calls, o.waked()...)
	}
	u.mu.Unlock()
	for _, f := range calls {
		f()
	}
}

// book is settle without the output's own waiting functions; it returns the waiting functions of other outputs. The
// lock is held.
func (o *Output) book() (calls []func()) {
	u, beyond := o.of, o.used.Load()-FreeUnread
	books := int64(0)
	if beyond > 0 && !o.closed {
		books = (beyond + bookStep - 1) / bookStep * bookStep
		u.large[o] = struct{}{}
	} else {
		delete(u.large, o)
		o.since = 0
	}
	change := books - o.booked.Swap(books)
	u.used.Add(change)
	o.user.used.Add(change)
	if change >= 0 {
		return nil
	}
	if len(o.user.waiting) > 0 && relieved(&o.user.used, &u.share) {
		calls = wake(o.user.waiting)
	}
	if len(u.waiting) > 0 && relieved(&u.used, &u.limit) {
		calls = append(calls, wake(u.waiting)...)
	}
	return calls
}

// waked removes and returns the waiting functions. The lock is held.
func (o *Output) waked() []func() {
	calls := o.waiting
	o.waiting = nil
	o.low.Store(never)
	return calls
}

// slow reports whether the client has read too little throughout a window that ends now. The lock is held.
func (o *Output) slow(at time.Duration) bool {
	stuck, running := int64(0), o.since > 0 && !o.excused.Load()
	if running && at-o.since < UnreadWindow {
		return false
	}
	least := int64(SlowestRate * (at - o.since) / time.Second)
	for p := range o.parts {
		used, moved := max(p.used.Load(), 0), p.moved.Load()
		if running && moved-p.before < min(p.held, least) {
			stuck += min(used, p.held)
		}
		p.held, p.before = used, moved
	}
	o.since = max(at, 1)
	return stuck > FreeUnread
}
