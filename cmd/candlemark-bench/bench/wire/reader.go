package wire

import (
	"encoding/binary"
	"io"
	"time"

	"candlemark/protocol"
)

var epoch = time.Now()

// Now returns a monotonic clock in nanoseconds since this process began.
func Now() int64 { return int64(time.Since(epoch)) }

// maxFrame bounds in bytes what a peer can make a reader allocate.
const maxFrame = 256 << 20

// Input holds bytes that have arrived from the network and are not read yet.
type Input struct {
	Stamp int64 // Now at the last read from the network

	src  io.Reader
	buf  []byte
	r, w int // it lies in buf[r:w]
}

// NewInput reads with a buffer of size bytes, which grows for longer frames; 0 for 64 KiB.
func NewInput(src io.Reader, size int) Input {
	if size == 0 {
		size = 64 << 10
	}
	return Input{src: src, buf: make([]byte, size)}
}

// Bytes have arrived and are not read yet; they are good until the next Fill.
func (in *Input) Bytes() []byte { return in.buf[in.r:in.w] }

// Skip takes n bytes off the front.
func (in *Input) Skip(n int) { in.r += n }

// Fill reads once; need is the length of the frame that has begun. After a timeout nothing is lost: it may be called again.
func (in *Input) Fill(need int) error {
	switch left := in.Bytes(); {
	case len(left) == 0:
		in.r, in.w = 0, 0
	case need > len(in.buf):
		in.buf = make([]byte, need+4096)
		in.r, in.w = 0, copy(in.buf, left)
	case len(in.buf)-in.r < need || len(in.buf)-in.w < len(in.buf)/4:
		in.r, in.w = 0, copy(in.buf, left)
	}
	n, err := in.src.Read(in.buf[in.w:])
	in.Stamp = Now()
	in.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// next returns a frame, good until the next call.
func (c *Conn) next() (protocol.Frame, error) {
	for {
		f, n, need, err := protocol.ParseFrame(c.in.Bytes(), maxFrame)
		if err != nil || n > 0 {
			c.in.Skip(n)
			return f, err
		}
		if err := c.in.Fill(need); err != nil {
			return protocol.Frame{}, err
		}
	}
}

// Buffered reports whether a whole frame has arrived and is not read yet.
func (c *Conn) Buffered() bool {
	b := c.in.Bytes()
	return len(b) >= 7 && len(b) >= int(binary.BigEndian.Uint32(b[3:]))+protocol.FrameOverhead
}
