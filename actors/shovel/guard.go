package shovel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/protocol"
)

// Frames as far as a guard reads them [AMQP 2.3.5].
const (
	frameHead = 7 // type 1, channel 2, size 4
	frameEnd  = 1 // octet
	// The size of a body stands behind class and weight in the header of a content, and the tag of an answer behind class and method.
	before, wanted = frameHead + 2 + 2, before + 8
)

// perMessage is about how many bytes a message takes besides its own.
const perMessage = 512

// guard is a connection on which the other side cannot make us hold much: it looks at the frames that come, for the client library
// takes whatever a header announces and keeps deliveries without a bound.
type guard struct {
	net.Conn
	most uint64 // bytes of a body
	room int64  // bytes of messages that may be held before nothing more is read; negative for any number
	// published is the highest number for which basic.ack and basic.nack may come: the library counts up to what they name.
	published atomic.Uint64

	// Of the reading goroutine.
	head []byte // of the frame that has begun, as far as it is wanted
	want int
	skip int64 // bytes until the next frame begins

	mu       sync.Mutex
	freed    *sync.Cond
	closed   bool
	sizes    []int64 // of the messages that came and are not let go, in the order of their coming
	held     int64   // their sum
	deadline time.Time
}

func newGuard(conn net.Conn, most uint64, room int64) *guard {
	g := &guard{Conn: conn, most: most, room: room, want: frameHead}
	g.freed = sync.NewCond(&g.mu)
	return g
}

// Read implements net.Conn. It waits while too much is held, and that time is not the other side's.
func (g *guard) Read(p []byte) (int, error) {
	g.mu.Lock()
	if full := func() bool { return g.room >= 0 && g.held > g.room && !g.closed }; full() {
		since := time.Now()
		for full() {
			g.freed.Wait()
		}
		if !g.deadline.IsZero() {
			g.deadline = g.deadline.Add(time.Since(since))
			_ = g.Conn.SetReadDeadline(g.deadline) // the read will tell
		}
	}
	g.mu.Unlock()
	n, err := g.Conn.Read(p)
	if wrong := g.scan(p[:n]); wrong != nil {
		return 0, wrong
	}
	return n, err
}

// SetReadDeadline implements net.Conn.
func (g *guard) SetReadDeadline(t time.Time) error {
	g.mu.Lock()
	g.deadline = t
	g.mu.Unlock()
	return g.Conn.SetReadDeadline(t)
}

// Close implements net.Conn.
func (g *guard) Close() error {
	g.open()
	return g.Conn.Close()
}

// open lets everything through from now on: nothing is taken any more.
func (g *guard) open() {
	g.mu.Lock()
	g.closed = true
	g.freed.Broadcast()
	g.mu.Unlock()
}

// letGo lets go of the first messages that came.
func (g *guard) letGo(count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, size := range g.sizes[:min(count, len(g.sizes))] {
		g.held -= size
	}
	g.sizes = g.sizes[min(count, len(g.sizes)):]
	g.freed.Broadcast()
}

// scan goes through what was read, frame by frame.
func (g *guard) scan(p []byte) error {
	for len(p) > 0 {
		if g.skip > 0 {
			n := min(int64(len(p)), g.skip)
			g.skip -= n
			p = p[n:]
			continue
		}
		n := min(len(p), g.want-len(g.head))
		g.head = append(g.head, p[:n]...)
		p = p[n:]
		if len(g.head) == g.want {
			if err := g.frame(); err != nil {
				return err
			}
		}
	}
	return nil
}

// frame looks at what is there of a frame, and goes on to the next, or wants more of this one.
func (g *guard) frame() error {
	kind, size := g.head[0], int64(binary.BigEndian.Uint32(g.head[3:]))
	if (kind == protocol.FrameHeader || kind == protocol.FrameMethod) && size >= wanted-frameHead {
		if len(g.head) < wanted {
			g.want = wanted
			return nil
		}
		number := binary.BigEndian.Uint64(g.head[before:])
		answers := kind == protocol.FrameMethod && slices.ContainsFunc(answering, func(m []byte) bool { return bytes.Equal(m, g.head[frameHead:before]) })
		switch {
		case kind == protocol.FrameHeader && number > g.most:
			return fmt.Errorf("a message has %d bytes, more than %d", number, g.most)
		case kind == protocol.FrameHeader && g.room >= 0:
			g.hold(size + int64(number) + perMessage)
		case answers && number > g.published.Load():
			return errStrange
		}
	}
	g.skip = size + frameEnd - int64(len(g.head)-frameHead)
	g.head, g.want = g.head[:0], frameHead
	return nil
}

// answering are class and method of basic.ack and basic.nack.
var answering = [][]byte{{0, 60, 0, 80}, {0, 60, 0, 120}}

func (g *guard) hold(size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sizes = append(g.sizes, size)
	g.held += size
}
