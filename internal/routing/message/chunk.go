package message

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Gate bounds the bytes of one connection between its socket and the queues (ADR 7). The reader waits at it before it
// reads more; the release of the last reference to a chunk opens it.
type Gate struct {
	limit  int64
	used   atomic.Int64
	copies atomic.Int64  // of publishes for several queues
	wake   chan struct{} // capacity 1: a token means "check again"
}

// copiesInTransit is the number of copies of one connection's publishes for several queues that may be on their way:
// they take memory in mail, but no bytes of the connection's input.
const copiesInTransit = 1 << 15

// NewGate returns a gate that is closed while more than limit bytes are in use.
func NewGate(limit int64) *Gate {
	return &Gate{limit: limit, wake: make(chan struct{}, 1)}
}

// Charge counts n bytes as in use. It never blocks.
func (g *Gate) Charge(n int) { g.used.Add(int64(n)) }

// Refund subtracts n bytes and wakes a waiting reader if that opens the gate.
func (g *Gate) Refund(n int) {
	after := g.used.Add(-int64(n))
	if after <= g.limit && after+int64(n) > g.limit {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
}

// Used returns the bytes in use.
func (g *Gate) Used() int64 { return g.used.Load() }

// Open reports whether the bytes in use do not exceed the limit.
func (g *Gate) Open() bool { return g.used.Load() <= g.limit }

// Wait blocks until the gate is open or done is closed; false means that done is closed.
func (g *Gate) Wait(done <-chan struct{}) bool {
	for !g.Open() {
		select {
		case <-g.wake:
		case <-done:
			return false
		}
	}
	return true
}

// CopiesOpen reports whether further publishes for several queues may be sent. Nil has no bound.
func (g *Gate) CopiesOpen() bool { return g == nil || g.copies.Load() <= copiesInTransit }

// Transit counts copies of publishes for several queues on their way to one queue. The zero value counts none.
type Transit struct {
	gate   *Gate
	copies int64
}

// Begin counts n copies; it is called at most once. A nil gate counts nothing.
func (t *Transit) Begin(gate *Gate, n int) {
	if gate != nil && n > 0 {
		t.gate, t.copies = gate, int64(n)
		gate.copies.Add(t.copies)
	}
}

// End is called when the queue has taken them; later calls do nothing.
func (t *Transit) End() {
	if t.gate != nil {
		t.gate.copies.Add(-t.copies)
		*t = Transit{}
	}
}

// Chunk is a piece of a connection's input. It begins with one reference, the reader's own. An actor that sends slices
// of it to another retains it first, once per mail; the receiver releases it exactly once.
type Chunk struct {
	Buf  []byte
	refs atomic.Int32
	gate *Gate
}

// Buffers of busy connections are reused: 16 KiB to 256 KiB, by powers of two. Smaller ones cost the collector little,
// larger ones are rare.
const (
	pooledFrom = 14
	pooledTo   = 18
)

var buffers [pooledTo - pooledFrom + 1]sync.Pool // of *[]byte

// NewChunk returns a chunk of size bytes or somewhat more, and charges the gate with them.
func (g *Gate) NewChunk(size int) *Chunk {
	c := &Chunk{gate: g}
	if class := poolFor(size); class < 0 {
		c.Buf = make([]byte, size)
	} else if b, _ := buffers[class].Get().(*[]byte); b != nil {
		c.Buf = *b
	} else {
		c.Buf = make([]byte, 1<<(class+pooledFrom))
	}
	g.Charge(len(c.Buf))
	c.refs.Store(1)
	return c
}

// poolFor returns the pool whose buffers hold size bytes, or -1 if there is none.
func poolFor(size int) int {
	class := bits.Len(uint(size-1)) - pooledFrom
	if size <= 1<<(pooledFrom-1) || class >= len(buffers) {
		return -1
	}
	return max(class, 0)
}

// Retain adds a reference. A nil chunk has none to count.
func (c *Chunk) Retain() {
	if c != nil {
		c.refs.Add(1)
	}
}

// Release drops a reference; the last one refunds the gate. Nil is allowed.
func (c *Chunk) Release() {
	if c == nil {
		return
	}
	switch n := c.refs.Add(-1); {
	case n == 0:
		c.gate.Refund(len(c.Buf))
		if class := poolFor(len(c.Buf)); class >= 0 && len(c.Buf) == 1<<(class+pooledFrom) {
			buf := c.Buf
			buffers[class].Put(&buf)
		}
		c.Buf = nil
	case n < 0:
		panic("message: chunk released more often than retained")
	}
}

// Charge is credit charged for memory outside of chunks: bodies that came in
// several frames and were joined. The zero value owes nothing.
type Charge struct {
	gate  *Gate
	bytes int
}

// Add charges gate with n bytes and adds them to the debt.
func (d *Charge) Add(gate *Gate, n int) {
	gate.Charge(n)
	d.gate, d.bytes = gate, d.bytes+n
}

// Release refunds the credit; later calls do nothing.
func (d *Charge) Release() {
	if d.gate != nil {
		d.gate.Refund(d.bytes)
		*d = Charge{}
	}
}
