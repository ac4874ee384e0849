package connection

import (
	"crypto/tls"
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
	for b := w.c.outbox.Take(); b != nil; b = w.c.outbox.Take() {
		if err := w.write(b); err != nil {
			w.c.outbox.Close()
			w.c.post(&lost{err})
			return // without another Take: the outbox never starts a writer again
		}
	}
}

// write brings all of b to the socket, however long that takes, unless nothing of
// it moves for SendTimeout. With TLS it is the socket below that sees to that (Patient).
func (w *writer) write(b []byte) error {
	conn, most := w.c.cfg.Conn, len(b)
	p := patience{w.c.cfg.SendTimeout, w.c.cfg.Clock}
	if _, secured := conn.(interface{ ConnectionState() tls.ConnectionState }); secured {
		most, p.timeout = largestRecord, 0
	}
	for len(b) > 0 {
		n, err := p.write(conn, b[:min(len(b), most)])
		b = b[w.wrote(n):]
		if err != nil {
			return err
		}
	}
	return nil
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
