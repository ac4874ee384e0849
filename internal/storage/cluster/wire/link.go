package wire

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is a connection of the log.
type link struct {
	net.Conn
	port *Port
	from string // "" for one that this node has dialed
	once sync.Once
	// patience is how long raft waits for the end of a call, 0 for ever.
	patience atomic.Int64
}

// SetDeadline implements net.Conn.
func (l *link) SetDeadline(t time.Time) error {
	l.patience.Store(int64(time.Until(t)))
	return l.Conn.SetDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (l *link) SetWriteDeadline(t time.Time) error {
	l.patience.Store(int64(time.Until(t)))
	return l.Conn.SetWriteDeadline(t)
}

// Write implements net.Conn: raft's limit for a call begins anew, so that a long call over a slow network ends (CLU-13).
func (l *link) Write(b []byte) (int, error) {
	if d := time.Duration(l.patience.Load()); d > 0 {
		if err := l.Conn.SetDeadline(time.Now().Add(d)); err != nil {
			return 0, err
		}
	}
	return l.Conn.Write(b)
}

// Read implements net.Conn.
func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if err != nil {
		l.end()
	}
	return n, err
}

// Close implements net.Conn.
func (l *link) Close() error {
	l.end()
	return l.Conn.Close()
}

func (l *link) end() {
	l.once.Do(func() {
		p := l.port
		p.mu.Lock()
		delete(p.links, l)
		last := l.from != ""
		for other := range p.links {
			last = last && other.from != l.from
		}
		p.mu.Unlock()
		if last {
			p.cfg.Lost(l.from)
		}
	})
}
