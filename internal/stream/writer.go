package stream

import (
	"crypto/tls"
	"math"
	"net"
	"sync/atomic"
	"time"

	"candlemark/internal/clock"
	"candlemark/internal/outbox"
)

// maxRecord is how much of the output TLS makes one record of: each is one that brings progress.
const maxRecord = 16 << 10

// Writer brings the outbox to the socket. Its goroutine lives from the moment
// the outbox wants it until there is nothing left, so an idle connection has
// none.
type Writer struct {
	Conn    net.Conn
	Outbox  *outbox.Outbox
	Clock   *clock.Clock
	Timeout time.Duration // how long the peer may read nothing; not above 0: for ever
	// Lost is called with the error of a failed socket, Recover is deferred by the goroutine.
	Lost    func(error)
	Recover func()

	Writes atomic.Uint32 // that went well
	Octets atomic.Uint64 // written by them
}

// Run is the goroutine.
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

// write brings all of v to the socket, however long that takes, unless nothing of
// it moves for Timeout. With TLS it is the socket below that sees to that (Patient).
// It changes v.
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

// wrote counts n bytes of one write, if there are any, and returns n.
func (w *Writer) wrote(n int) int {
	if n > 0 {
		w.Writes.Add(1)
		w.Octets.Add(uint64(n))
	}
	return n
}
