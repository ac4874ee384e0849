package outbox

import "sync"

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
}

// reference is a body that is written before b[at].
type reference struct {
	at   int
	body []byte
}

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, firstBuffer)} }}

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if b == nil || cap(b.b) > maxBuffer || cap(b.refs) > maxReferences {
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
