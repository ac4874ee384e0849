package connection

import (
	"net"
	"sync/atomic"

	"candlemark/internal/message"
	"candlemark/protocol"
)

// How many bytes a read may bring: few while the connection is idle, which is
// what it costs then, and more as soon as reads come back full.
const (
	smallestRead = 2 << 10
	largestRead  = 128 << 10
)

// input reads the socket into chunks. What was parsed out of a chunk is never
// written again; several reads share a chunk as long as it has room.
//
//	chunk.Buf: │ parsed, perhaps still in use │ start: not parsed yet │ end: free │
type input struct {
	conn   net.Conn
	gate   *message.Gate
	reads  atomic.Uint32 // that brought bytes
	octets atomic.Uint64 // that they brought

	chunk      *message.Chunk // nil before the first read
	start, end int
	last       int  // bytes that the last read brought
	size       int  // bytes a fresh read may bring
	shrunk     bool // size is less than when chunk was made
}

// unparsed returns the bytes that were read and not consumed.
func (in *input) unparsed() []byte {
	if in.chunk == nil {
		return nil
	}
	return in.chunk.Buf[in.start:in.end]
}

// consume marks the first n unparsed bytes as parsed.
func (in *input) consume(n int) { in.start += n }

// fill reads once, and blocks until there is something. want is how many bytes
// the frame at start has in all, 0 if that is not known.
func (in *input) fill(want int) error {
	free := in.room(want)
	n, err := in.conn.Read(free)
	if n == 0 {
		return err
	}
	in.took(n, len(free))
	return nil
}

// took counts what a read has brought, of so many bytes that it might have.
func (in *input) took(n, most int) {
	in.end += n
	in.last = n
	in.reads.Add(1)
	in.octets.Add(uint64(n))
	switch {
	case n == most:
		in.size = min(2*in.size, largestRead)
	case n < in.size/8 && in.size > smallestRead:
		in.size /= 2
		in.shrunk = true
	}
}

// room is where a read goes; want is as with fill.
func (in *input) room(want int) []byte {
	in.makeRoom(want)
	return in.chunk.Buf[in.end:]
}

// makeRoom takes another chunk when the present one has no room for the whole
// frame at start, or so little that the read would not pay.
func (in *input) makeRoom(want int) {
	left := len(in.unparsed())
	if in.chunk != nil && !(in.shrunk && left == 0) {
		free := len(in.chunk.Buf) - in.end
		if free >= want-left && free >= in.size/4 {
			return
		}
	}
	in.size = max(in.size, smallestRead)
	next := in.gate.NewChunk(max(left+in.size, want))
	copy(next.Buf, in.unparsed())
	in.close()
	in.chunk, in.start, in.end, in.shrunk = next, 0, left, false
}

// close gives the reader's own reference back.
func (in *input) close() {
	in.chunk.Release()
	in.chunk, in.start, in.end = nil, 0, 0
}

// frame returns the next whole frame, reading as long as it takes. It is valid
// until the chunk is released: only while the handshake and the farewell last.
func (in *input) frame(frameMax uint32) (protocol.Frame, error) {
	for {
		f, n, want, err := protocol.ParseFrame(in.unparsed(), frameMax)
		in.consume(n)
		if n == 0 && err != nil {
			err = &outOfStep{err}
		}
		if n > 0 || err != nil {
			return f, err
		}
		if err := in.fill(want); err != nil {
			return protocol.Frame{}, &socketError{err}
		}
	}
}

// outOfStep is an error after which the input cannot be split into frames.
type outOfStep struct{ error }

func (e *outOfStep) Unwrap() error { return e.error }

// socketError is the error of Read: nothing more will come.
type socketError struct{ error }

func (e *socketError) Unwrap() error { return e.error }
