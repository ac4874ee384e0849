package outbox

import "sync"

const (
	firstBuffer   = 4 << 10
	maxBuffer     = 1 << 20 // a larger one is left to the garbage collector
	maxReferences = 256     // as is one that has had room for more
)

// buffer is a reusable piece of output. Outboxes share them, so that only those
// that are writing hold any.
type buffer struct {
	b        []byte
	refs     []reference // in order
	referred int         // bytes of refs
	vector   [][]byte    // all of it, once it is being written
}

// reference is a body that is written in front of b[at].
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

// truncate forgets the references that b does not reach: the frame around each goes on behind it.
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

// pieces returns what there is to write, in order, from b[from] on, before which no reference may be.
func (b *buffer) pieces(from int) [][]byte {
	b.vector = b.vector[:0]
	for _, r := range b.refs {
		b.vector = append(b.vector, b.b[from:r.at], r.body)
		from = r.at
	}
	b.vector = append(b.vector, b.b[from:])
	return b.vector
}
