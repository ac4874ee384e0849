package connection

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// writeTries is how often in a row the socket may take nothing, each time for its
// part of SendTimeout: a pause of the whole broker looks like one of them.
const writeTries = 3

// largestRecord is how much of the output TLS makes one record of. A write to TLS
// that has timed out cannot be gone on with, so each is one that brings progress.
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
// it moves for SendTimeout.
func (w *writer) write(b []byte) error {
	conn, most, tries := w.c.cfg.Conn, len(b), writeTries
	if _, secured := conn.(interface{ ConnectionState() tls.ConnectionState }); secured {
		most, tries = largestRecord, 1
	}
	for silent := 0; len(b) > 0; {
		if patience := w.c.cfg.SendTimeout; patience > 0 {
			_ = conn.SetWriteDeadline(time.Now().Add(patience / time.Duration(tries))) // a failure shows in Write
		}
		n, err := conn.Write(b[:min(len(b), most)])
		if silent++; n > 0 {
			silent, b = 0, b[n:]
			w.writes.Add(1)
			w.octets.Add(uint64(n))
		}
		switch late := errors.Is(err, os.ErrDeadlineExceeded); {
		case err == nil || late && tries > 1 && silent < tries:
		case late:
			return fmt.Errorf("the client has read nothing for %v", w.c.cfg.SendTimeout)
		default:
			return err
		}
	}
	return nil
}

// recovered turns a panic of a goroutine into the end of the connection, not of
// the broker.
func (c *connection) recovered(who string) {
	if reason := recover(); reason != nil {
		c.log.Error().Interface("panic", reason).Str("goroutine", who).Msg("connection failed")
		c.post(&lost{errPanic})
	}
}
