package stream

import (
	"crypto/tls"
	"math"
	"net"
	"sync/atomic"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/transport/outbox"
)

// maxRecord is the maximum size of one TLS record, bytes. Output is written in such pieces, so that progress is
// visible.
const maxRecord = 16 << 10

// Writer writes the outbox to the socket. Its goroutine runs from when the outbox needs it until the outbox is empty,
// so an idle connection has none.
type Writer struct {
	Conn    net.Conn
	Outbox  *outbox.Outbox
	Clock   *clock.Clock
	Timeout time.Duration // how long the peer may read nothing; at most 0: no limit
	// Lost is called with the error of a failed socket, Recover is deferred by the goroutine.
	Lost    func(error)
	Recover func()

	Writes atomic.Uint32 // successful writes
	Octets atomic.Uint64 // written
}

// Run is the body of the goroutine.
func (w *Writer) Run() {
	defer w.Recover()
	for v := w.Outbox.TakeVector(); len(v) > 0; v = w.Outbox.TakeVector() {
		if err := w.write(v); err != nil {
			w.Outbox.Close()
			w.Lost(err)
			return // without another Take: the outbox never starts a writer again
		}
	}
}

// Vectored is a connection that takes output in several pieces at once.
type Vectored interface {
	// WriteVector writes the pieces, or a part of them without an error.
	WriteVector(v [][]byte) (int, error)
}

// write writes all of v to the socket, however long that takes, unless there is no progress for Timeout. With TLS the
// socket below enforces that (Patient). It changes v.
func (w *Writer) write(v [][]byte) error {
	conn, limit := w.Conn, math.MaxInt
	p := Patience{w.Timeout, w.Clock}
	if _, secured := conn.(interface{ ConnectionState() tls.ConnectionState }); secured {
		limit, p.timeout = maxRecord, 0
	}
	for len(v) > 0 {
		n, err := p.write(conn, func() (int, error) {
			if len(v) > 1 {
				return conn.(Vectored).WriteVector(v)
			}
			return conn.Write(v[0][:min(len(v[0]), limit)])
		})
		v = behind(v, w.wrote(n))
		if err != nil {
			return err
		}
	}
	return nil
}

// behind returns the rest of v after n bytes.
func behind(v [][]byte, n int) [][]byte {
	for len(v) > 0 && n >= len(v[0]) {
		n -= len(v[0])
		v = v[1:]
	}
	if len(v) > 0 {
		v[0] = v[0][n:]
	}
	return v
}

// wrote counts a write of n bytes, unless n is 0, and returns n.
func (w *Writer) wrote(n int) int {
	if n > 0 {
		w.Writes.Add(1)
		w.Octets.Add(uint64(n))
		w.Outbox.Wrote(n)
	}
	return n
}
