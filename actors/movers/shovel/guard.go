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

// The sizes, in bytes, of the parts of frames that a guard reads [AMQP 2.3.5].
const (
	frameHead = 7 // type 1, channel 2, size 4
	frameEnd  = 1 // octet
	// The body size follows class and weight in a content header, and the tag of an answer follows class and method.
	before, wanted = frameHead + 2 + 2, before + 8
)

// perMessage is the assumed size of a message without its content, in bytes.
const perMessage = 512

// guard is a connection that limits the memory that the peer can make the broker use. It inspects incoming frames,
// because the client library accepts any body size in a header and keeps deliveries without limit.
type guard struct {
	net.Conn
	maxBody uint64 // maximum size of a body
	room    int64  // bytes of messages that may be held before reading stops; negative for no limit
	// published is the highest number that basic.ack and basic.nack may name: the library loops up to that number.
	published atomic.Uint64

	// For the reading goroutine.
	head []byte // the needed part of the current frame
	want int
	skip int64 // bytes until the next frame

	mu       sync.Mutex
	freed    *sync.Cond
	closed   bool
	sizes    []int64 // of held messages, in order of arrival
	held     int64   // sum of sizes
	deadline time.Time
}

func newGuard(conn net.Conn, maxBody uint64, room int64) *guard {
	g := &guard{Conn: conn, maxBody: maxBody, room: room, want: frameHead}
	g.freed = sync.NewCond(&g.mu)
	return g
}

// Read implements net.Conn. It waits while too much is held; this time does not count towards the deadline.
func (g *guard) Read(p []byte) (int, error) {
	g.mu.Lock()
	if full := func() bool { return g.room >= 0 && g.held > g.room && !g.closed }; full() {
		since := time.Now()
		for full() {
			g.freed.Wait()
		}
		if !g.deadline.IsZero() {
			g.deadline = g.deadline.Add(time.Since(since))
			_ = g.Conn.SetReadDeadline(g.deadline) // the read will report the error
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

// open removes the limit, because no more messages are taken.
func (g *guard) open() {
	g.mu.Lock()
	g.closed = true
	g.freed.Broadcast()
	g.mu.Unlock()
}

// letGo releases the oldest count messages.
func (g *guard) letGo(count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, size := range g.sizes[:min(count, len(g.sizes))] {
		g.held -= size
	}
	g.sizes = g.sizes[min(count, len(g.sizes)):]
	g.freed.Broadcast()
}

// scan inspects bytes that were read, frame by frame.
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

// frame inspects the start of a frame, and skips to the next frame or waits for more of this one.
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
		case kind == protocol.FrameHeader && number > g.maxBody:
			return fmt.Errorf("a message of %d bytes exceeds the limit of %d bytes", number, g.maxBody)
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

// answering are the class and method ids of basic.ack and basic.nack.
var answering = [][]byte{{0, 60, 0, 80}, {0, 60, 0, 120}}

func (g *guard) hold(size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sizes = append(g.sizes, size)
	g.held += size
}
