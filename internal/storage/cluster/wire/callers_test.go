package wire

import (
	"net"
	"testing"
)

// stranger is a connection from a host.
type stranger struct {
	net.Conn
	host   string
	closed int
}

func (s *stranger) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(s.host), Port: 1} }

func (s *stranger) Close() error {
	s.closed++
	return nil
}

// TestCallers_CLU4: of too many callers the oldest one of the host with the most of them has to go.
func TestCallers_CLU4(t *testing.T) {
	var s callers
	node := &stranger{host: "10.0.0.2"}
	first := s.enter(node)
	crowd := make([]*stranger, 3*maxHellos)
	for i := range crowd {
		crowd[i] = &stranger{host: "10.0.0.9"}
		s.enter(crowd[i])
	}
	for i, c := range crowd {
		if gone := i <= 2*maxHellos; gone != (c.closed == 1) {
			t.Errorf("stranger %d was closed %d times", i, c.closed)
		}
	}
	if node.closed != 0 || s.leave(first) || len(s.list) != maxHellos-1 {
		t.Errorf("the node was closed %d times, %d callers are left", node.closed, len(s.list))
	}
}
