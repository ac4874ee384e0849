package connection

import (
	"crypto/tls"
	"math"
	"sync/atomic"
)

// largestRecord is how much of the output TLS makes one record of: each is one that brings progress.
const largestRecord = 16 << 10

// writer brings the outbox to the socket. Its goroutine lives from the moment
// the outbox wants it until there is nothing left, so an idle connection has
// none.
type writer struct {
	c      *connection
	writes atomic.Uint32 // that went well
	octets atomic.Uint64 // written by them
}

func (w *writer) run() {
	defer w.c.recovered("writer")
	for v := w.c.outbox.TakeVector(); len(v) > 0; v = w.c.outbox.TakeVector() {
		if err := w.write(v); err != nil {
			w.c.outbox.Close()
			w.c.post(&lost{err})
			return // without another Take: the outbox never starts a writer again
		}
	}
}

// vectored is a connection that takes output in several pieces at once.
type vectored interface {
	WriteVector(v [][]byte) (int, error)
}

// write brings all of v to the socket, however long that takes, unless nothing of
// it moves for SendTimeout. With TLS it is the socket below that sees to that (Patient).
// It changes v.
func (w *writer) write(v [][]byte) error {
	conn, most := w.c.cfg.Conn, math.MaxInt
	p := patience{w.c.cfg.SendTimeout, w.c.cfg.Clock}
	if _, secured := conn.(interface{ ConnectionState() tls.ConnectionState }); secured {
		most, p.timeout = largestRecord, 0
	}
	for len(v) > 0 {
		n, err := p.write(conn, func() (int, error) {
			if len(v) > 1 {
				return conn.(vectored).WriteVector(v)
			}
			return conn.Write(v[0][:min(len(v[0]), most)])
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
func (w *writer) wrote(n int) int {
	if n > 0 {
		w.writes.Add(1)
		w.octets.Add(uint64(n))
	}
	return n
}

// recovered turns a panic of a goroutine into the end of the connection, not of
// the broker.
func (c *connection) recovered(who string) {
	if reason := recover(); reason != nil {
		c.log.Error().Interface("panic", reason).Str("goroutine", who).Msg("connection failed")
		c.post(&lost{errPanic})
	}
}
