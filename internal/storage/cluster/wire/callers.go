package wire

import (
	"errors"
	"net"
	"slices"
	"sync"
)

// maxHellos is how many callers may be saying hello at the same time.
const maxHellos = 64

var errCrowd = errors.New("too many connections at the same time that do not end their hello")

// callers are the connections whose hello has not ended, oldest first. Nobody has proved anything yet: a new caller is always let in, and
// if there are too many, the oldest one of the host with the most callers has to go. So strangers that say nothing do not keep nodes out.
type callers struct {
	mu   sync.Mutex
	list []*caller
}

type caller struct {
	conn    net.Conn
	host    string
	evicted bool
}

// enter adds a caller.
func (s *callers) enter(conn net.Conn) *caller {
	host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	c := &caller{conn: conn, host: host}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list = append(s.list, c); len(s.list) > maxHellos {
		s.evict()
	}
	return c
}

func (s *callers) evict() {
	count, most := map[string]int{}, 0
	for _, c := range s.list {
		count[c.host]++
		most = max(most, count[c.host])
	}
	at := slices.IndexFunc(s.list, func(c *caller) bool { return count[c.host] == most })
	c := s.list[at]
	s.list = slices.Delete(s.list, at, at+1)
	c.evicted = true
	_ = c.conn.Close()
}

// leave removes a caller, and reports whether it had to go.
func (s *callers) leave(c *caller) (evicted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.list, c); at >= 0 {
		s.list = slices.Delete(s.list, at, at+1)
	}
	return c.evicted
}
