package stream

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"candlemark/internal/measure/clock"
)

// SendTimeout is the default time for which a peer may read nothing.
const SendTimeout = 15 * time.Second

// Progress is visible only when a write deadline has passed: there are writeTries within SendTimeout, and one every
// writeStep at least.
const (
	writeTries = 3
	writeStep  = time.Second
)

// Patience limits the time for which a peer may read nothing, measured while the process runs (ADR 33).
type Patience struct {
	timeout time.Duration // at most 0: no limit
	clock   *clock.Clock
}

// NewPatience returns a Patience with a timeout: 0 means 15 s, negative no limit.
func NewPatience(timeout time.Duration, c *clock.Clock) Patience {
	return Patience{cmp.Or(timeout, SendTimeout), c}
}

// write repeats do until it has written at least a part.
func (p *Patience) write(conn net.Conn, do func() (int, error)) (n int, err error) {
	if p.timeout <= 0 {
		return do()
	}
	began := p.clock.Ran()
	for rest := p.timeout; rest > 0; rest = p.timeout - (p.clock.Ran() - began) {
		_ = conn.SetWriteDeadline(time.Now().Add(min(rest, p.timeout/writeTries, writeStep))) // a failure shows in Write
		n, err = do()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, &UnreadError{p.timeout}
}

// UnreadError is the error of writing to a client that has read nothing for so long.
type UnreadError struct{ For time.Duration }

// Error implements error.
func (e *UnreadError) Error() string { return fmt.Sprintf("the client has read nothing for %v", e.For) }

// patient is a socket below TLS. A TLS write cannot be continued after a timeout, so it must not time out while it
// makes progress, nor by a pause of the process: deadlines are set below TLS.
type patient struct {
	net.Conn
	Patience
	dated atomic.Bool // the layer above has set a deadline, which replaces the timeout
}

// Patient returns a socket for TLS or WebSocket to use: its Write continues as long as the peer reads something at
// least every timeout, give or take a third. A write deadline set by the caller replaces that until it is reset.
func (p Patience) Patient(conn net.Conn) net.Conn { return &patient{Conn: conn, Patience: p} }

// Write implements net.Conn.
func (p *patient) Write(b []byte) (int, error) {
	written := 0
	for {
		if p.dated.Load() {
			n, err := p.Conn.Write(b[written:])
			return written + n, err
		}
		n, err := p.write(p.Conn, func() (int, error) { return p.Conn.Write(b[written:]) })
		if written += n; err != nil || written == len(b) {
			return written, err
		}
	}
}

// SetWriteDeadline implements net.Conn.
func (p *patient) SetWriteDeadline(t time.Time) error {
	p.dated.Store(!t.IsZero())
	return p.Conn.SetWriteDeadline(t)
}

// SetDeadline implements net.Conn.
func (p *patient) SetDeadline(t time.Time) error {
	p.dated.Store(!t.IsZero())
	return p.Conn.SetDeadline(t)
}

// NetConn returns the socket itself.
func (p *patient) NetConn() net.Conn { return p.Conn }
