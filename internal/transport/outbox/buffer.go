package outbox

import (
	"sync"

	"candlemark/internal/transport/budget"
)

const (
	firstBuffer   = 4 << 10
	maxBuffer     = 1 << 20 // larger buffers are not reused
	maxReferences = 256     // nor are buffers that have had room for more
)

// buffer is a reusable buffer for output. Outboxes share them, so that only active outboxes hold any.
type buffer struct {
	b        []byte
	refs     []reference // in order
	referred int         // bytes of refs
	vector   [][]byte    // all of it, once it is being written
	unread   *budget.Part
	owed     int64 // bytes that unread is charged with
}

// reference is a body that is written before b[at].
type reference struct {
	at   int
	body []byte
}

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, firstBuffer)} }}

func newBuffer() *buffer { return buffers.Get().(*buffer) }

// charge charges unread with what was appended to a buffer of that size, and returns its size.
func (b *buffer) charge(unread *budget.Part, before int) (size int) {
	size = b.size()
	if unread != nil {
		b.unread = unread
		b.owed += int64(size - before)
		unread.Take(int64(size - before))
	}
	return size
}

// wrote returns the charge of bytes that were written. Some may have been appended before anything was charged.
func (b *buffer) wrote(bytes int64) {
	bytes = min(bytes, b.owed)
	b.owed -= bytes
	b.unread.Return(bytes)
}

func (b *buffer) release() {
	if b == nil {
		return
	}
	b.wrote(b.owed)
	b.unread = nil
	if cap(b.b) > maxBuffer || cap(b.refs) > maxReferences {
		return
	}
	b.b = b.b[:0]
	b.truncate()
	clear(b.vector)
	buffers.Put(b)
}

// truncate removes references beyond the end of b: the frame around each continues after it.
func (b *buffer) truncate() {
	n := len(b.refs)
	for n > 0 && b.refs[n-1].at >= len(b.b) {
		n--
		b.referred -= len(b.refs[n].body)
		b.refs[n] = reference{}
	}
	b.refs = b.refs[:n]
}

// size returns the number of bytes to write.
func (b *buffer) size() int { return len(b.b) + b.referred }

// pieces returns the output from b[from] on, in order; there must be no reference before it.
func (b *buffer) pieces(from int) [][]byte {
	b.vector = b.vector[:0]
	for _, r := range b.refs {
		b.vector = append(b.vector, b.b[from:r.at], r.body)
		from = r.at
	}
	b.vector = append(b.vector, b.b[from:])
	return b.vector
}
