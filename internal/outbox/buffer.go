package outbox

import "sync"

const (
	firstBuffer   = 4 << 10
	largestBuffer = 1 << 20 // a larger one is left to the garbage collector
)

// buffer is a reusable piece of output. Outboxes share them, so that only those
// that are writing hold any.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, firstBuffer)} }}

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if b == nil || cap(b.b) > largestBuffer {
		return
	}
	b.b = b.b[:0]
	buffers.Put(b)
}
