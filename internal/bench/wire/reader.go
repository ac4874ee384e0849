package wire

import (
	"encoding/binary"
	"io"
	"time"

	"candlemark/protocol"
)

var epoch = time.Now()

// Now is a monotonic clock in nanoseconds since this process began.
func Now() int64 { return int64(time.Since(epoch)) }

// maxFrame bounds in bytes what a peer can make a reader allocate.
const maxFrame = 256 << 20

// reader cuts a stream of bytes into frames without copying them.
type reader struct {
	src   io.Reader
	buf   []byte
	r, w  int   // what lies in buf[r:w] has arrived and is not read yet
	stamp int64 // Now at the last read from the network
}

// next returns a frame, good until the next call. After a timeout nothing is lost: it may be called again.
func (r *reader) next() (protocol.Frame, error) {
	for {
		f, n, need, err := protocol.ParseFrame(r.buf[r.r:r.w], maxFrame)
		if err != nil || n > 0 {
			r.r += n
			return f, err
		}
		if err := r.fill(need); err != nil {
			return protocol.Frame{}, err
		}
	}
}

// buffered tells whether a whole frame has arrived already.
func (r *reader) buffered() bool {
	n := r.w - r.r
	return n >= 7 && n >= int(binary.BigEndian.Uint32(r.buf[r.r+3:]))+protocol.FrameOverhead
}

// fill reads once; need is the length of the frame that has begun.
func (r *reader) fill(need int) error {
	switch left := r.buf[r.r:r.w]; {
	case len(left) == 0:
		r.r, r.w = 0, 0
	case need > len(r.buf):
		r.buf = make([]byte, need+4096)
		r.r, r.w = 0, copy(r.buf, left)
	case len(r.buf)-r.r < need || len(r.buf)-r.w < len(r.buf)/4:
		r.r, r.w = 0, copy(r.buf, left)
	}
	n, err := r.src.Read(r.buf[r.w:])
	r.stamp = Now()
	r.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}
