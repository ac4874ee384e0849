package outbox

import (
	"slices"
	"sync"

	"candlemark/internal/transport/budget"
)

// maxDirect is the maximum number of bytes that an appender writes itself: more bytes mean load, when actors should not
// spend time copying into sockets. Measured with the whole broker, 100 B messages, against leaving every write to the
// writer: 8 KiB 0.44 to 0.48 CPU-s per million and 1.6 to 1.8 million/s (0.50 and 1.2 to 1.35). 1 KiB did not gain
// that; 64 KiB was only tried with confirms, where it was no clear gain over 8.
const maxDirect = 8 << 10

// MinReference is the size of the smallest body that is kept as a reference, in bytes: appenders never write it
// themselves, and it is never part of a shared block (ADR 66).
const MinReference = maxDirect + 1

// TryWrite writes what the socket accepts without waiting and returns the number of bytes, 0 if it would block or
// fails. It is never called during another write.
type TryWrite func(b []byte) int

// Outbox is made with New or NewDirect. Its methods may be called from any
// goroutine, except that Take belongs to the writer.
type Outbox struct {
	limit int
	start func()
	try   TryWrite

	mu      sync.Mutex
	pending *buffer      // being filled; nil if empty
	mark    int          // length of pending at Begin
	counted int          // size of pending when it was last charged
	unread  *budget.Part // charged with what is appended; nil for no limit
	current *buffer      // being written; used only by the writing goroutine
	spilled int          // >= 0: current.b[spilled:] was refused by TryWrite
	writing bool         // a goroutine is writing
	closed  bool
	waiting []func() // to be called when pending is swapped out
	drained func()   // from Finish
	claims  claims

	references bool // Refer does not copy
}

// New returns an outbox that has no room above limit bytes. start is called, without the lock, whenever a writer is
// needed: it must ensure that Take is soon called until that returns nil. A nil start is for tests that call Take
// themselves.
func New(limit int, start func()) *Outbox { return NewDirect(limit, start, nil) }

// NewDirect is New with a TryWrite, which appenders call themselves for few bytes while no goroutine is writing.
func NewDirect(limit int, start func(), try TryWrite) *Outbox {
	if start == nil {
		start = func() {}
	}
	return &Outbox{limit: limit, start: start, try: try, spilled: -1}
}

// Reference makes Refer keep bodies instead of copying them; only TakeVector returns references. Call it before all
// other methods.
func (o *Outbox) Reference() { o.references = true }

// Charge charges unread with everything that is appended from now on, until the writer reports it as Wrote. While unread
// is pressed, the outbox has less room.
func (o *Outbox) Charge(unread *budget.Part) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unread = unread
	if o.pending != nil {
		o.counted = o.pending.size() // from before
	}
}

// Begin locks the outbox and returns the buffer to append to. End must follow soon in any case: code that may panic in
// between defers it.
func (o *Outbox) Begin() []byte {
	o.mu.Lock()
	if o.pending == nil {
		o.pending = newBuffer()
	}
	o.mark = len(o.pending.b)
	return o.pending.b
}

// RoomFor reports whether more may be appended to b, the buffer from Begin, which may have grown since. Only between
// Begin and End. A closed outbox has no room.
func (o *Outbox) RoomFor(b []byte) bool { return !o.closed && o.takes(len(b)+o.pending.referred) }

// takes reports whether more may be appended to that many bytes.
func (o *Outbox) takes(bytes int) bool {
	return bytes < min(o.limit, pressedLimit) || bytes < o.limit && !o.unread.Pressed()
}

// hasRoom is RoomFor outside of Begin and End. mu is held.
func (o *Outbox) hasRoom() bool { return !o.closed && (o.pending == nil || o.takes(o.pending.size())) }

// Refer appends body to b, the buffer from Begin, perhaps as a reference: body must never be modified again. More must
// be appended after it. Only between Begin and End.
func (o *Outbox) Refer(b, body []byte) []byte {
	if !o.references || len(body) < MinReference {
		return append(b, body...)
	}
	o.pending.refs = append(o.pending.refs, reference{len(b), body})
	o.pending.referred += len(body)
	return b
}

// HasRoom is RoomFor outside of Begin and End.
func (o *Outbox) HasRoom() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hasRoom()
}

// pressedLimit is the limit in bytes while the client's user, or all clients together, have no room for unread output.
const pressedLimit = 64 << 10

// overhang is the number of bytes by which the last message of a full buffer usually exceeds the limit.
const overhang = 4 << 10

// Grow gives b, the buffer from Begin, room for n more bytes, or up to the limit if that is less. Only between Begin
// and End.
func (o *Outbox) Grow(b []byte, n int) []byte {
	return slices.Grow(b, max(min(n, o.limit+overhang-len(b)), 0))
}

// End takes b, the buffer of Begin with whole frames appended, unlocks, and makes sure that it is written.
func (o *Outbox) End(b []byte) {
	if o.closed {
		b = b[:o.mark]
	}
	o.pending.b = b
	o.pending.truncate()
	o.counted = o.pending.charge(o.unread, o.counted)
	if len(b) == 0 {
		o.pending.release()
		o.pending = nil
	}
	if len(b) == 0 || o.writing {
		o.mu.Unlock()
		return
	}
	o.writing = true
	if o.try == nil || o.pending.size() > maxDirect {
		o.mu.Unlock()
		o.start()
		return
	}
	roomy := o.swap()
	o.mu.Unlock()
	o.direct(roomy)
}

// WhenRoom calls f once when the gathered output is taken for writing, or at once if there is room already. f must only
// post mail. Not to be called between Begin and End. A closed outbox never calls it.
func (o *Outbox) WhenRoom(f func()) {
	o.mu.Lock()
	room := o.hasRoom()
	if !room && !o.closed {
		o.waiting = append(o.waiting, f)
	}
	o.mu.Unlock()
	if room {
		f()
	}
}

// Close drops all later appends; what was appended before is still written.
func (o *Outbox) Close() { o.Finish(nil) }

// Finish is Close, and calls drained, unless nil, when everything is written. drained is never called if the writer
// gives up.
func (o *Outbox) Finish(drained func()) {
	o.mu.Lock()
	o.closed = true
	o.waiting = nil
	done := !o.writing
	if !done {
		o.drained = drained
	}
	o.mu.Unlock()
	if done && drained != nil {
		drained()
	}
}

// Take returns the next bytes to write; the caller writes all of them before the next call. Nil means that there are
// none and that writing has ended until the next append. The bytes belong to the outbox and are reused. It is not for
// an outbox that keeps references.
func (o *Outbox) Take() []byte {
	v := o.TakeVector()
	if len(v) == 0 {
		return nil
	}
	return v[0]
}

// TakeVector is Take for output in several pieces, none of them empty. They also belong to the outbox.
func (o *Outbox) TakeVector() [][]byte {
	o.mu.Lock()
	v, calls := o.next()
	o.mu.Unlock()
	for _, f := range calls {
		f()
	}
	return v
}

// Wrote reports that the socket has accepted bytes of what was taken. It belongs to the writer.
func (o *Outbox) Wrote(bytes int) { o.current.wrote(int64(bytes)) }

// direct is an appender's own attempt to write. The caller holds the write turn.
func (o *Outbox) direct(roomy []func()) {
	for _, f := range roomy {
		f()
	}
	n := o.try(o.current.b)
	o.mu.Lock()
	o.spilled = -1
	over := n == len(o.current.b) && o.pending == nil
	if n < len(o.current.b) {
		o.spilled = n
	}
	var calls []func()
	if over {
		calls = o.idle()
	}
	o.mu.Unlock()
	if !over {
		o.start()
	}
	for _, f := range calls {
		f()
	}
}

// next is the body of TakeVector; it also returns the functions to call afterwards. mu is held.
func (o *Outbox) next() (v [][]byte, calls []func()) {
	if o.spilled >= 0 {
		v, o.spilled = o.current.pieces(o.spilled), -1
		return v, nil
	}
	if o.pending == nil {
		return nil, o.idle()
	}
	calls = o.swap()
	return o.current.pieces(0), calls
}

// swap makes the gathered output the current buffer and returns the waiting functions to call. mu is held.
func (o *Outbox) swap() []func() {
	o.current.release()
	o.current, o.pending, o.counted = o.pending, nil, 0
	roomy := o.waiting
	o.waiting = nil
	return roomy
}

// idle ends writing and returns the waiting functions to call. mu is held.
func (o *Outbox) idle() (calls []func()) {
	o.current.release()
	o.current = nil
	o.writing = false
	if o.drained != nil {
		calls = append(calls, o.drained)
		o.drained = nil
	}
	return calls
}
