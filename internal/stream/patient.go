package stream

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"candlemark/internal/clock"
)

// SendTimeout is how long a peer may read nothing, if nothing else is said.
const SendTimeout = 15 * time.Second

// writeTries is how many deadlines a socket gets in SendTimeout: what it has taken shows only when one has passed.
const writeTries = 3

// Patience is how long a peer may read nothing, of the time that the process runs (ADR 33).
type Patience struct {
	timeout time.Duration // not above 0: for ever
	clock   *clock.Clock
}

// NewPatience returns that of a Config with the same SendTimeout and clock: 0 is 15 s, negative for ever.
func NewPatience(timeout time.Duration, c *clock.Clock) Patience {
	return Patience{cmp.Or(timeout, SendTimeout), c}
}

// write has do bring at least a part of something to the socket.
func (p *Patience) write(conn net.Conn, do func() (int, error)) (n int, err error) {
	if p.timeout <= 0 {
		return do()
	}
	began := p.clock.Ran()
	for rest := p.timeout; rest > 0; rest = p.timeout - (p.clock.Ran() - began) {
		_ = conn.SetWriteDeadline(time.Now().Add(min(rest, p.timeout/writeTries))) // a failure shows in Write
		n, err = do()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("the client has read nothing for %v", p.timeout)
}

// patient is a socket below TLS. A write to TLS that has timed out cannot be gone on with, so it must not time out while
// anything of it moves, nor by a pause of the process: deadlines are set below it.
type patient struct {
	net.Conn
	Patience
	dated atomic.Bool // the layer above has set a deadline, which counts instead
}

// Patient makes the socket that TLS or WebSocket is to be put on: its Write takes as long as the peer reads something at least every timeout, which it
// may exceed by a third. A deadline for writes that is set from outside counts instead, until it is taken back.
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
