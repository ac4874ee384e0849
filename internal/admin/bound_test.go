package admin

import (
	"net"
	"net/http"
	"testing"
	"time"
)

func TestAtMost(t *testing.T) {
	state := AtMost(2)
	conns := make([]net.Conn, 4)
	for i := range conns {
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		conns[i] = ours
	}
	isOpen := func(c net.Conn) bool { return c.SetDeadline(time.Time{}) == nil }
	for i := range 3 {
		state(conns[i], http.StateNew)
	}
	if !isOpen(conns[0]) || !isOpen(conns[1]) || isOpen(conns[2]) {
		t.Fatal("not the third was closed")
	}
	state(conns[2], http.StateClosed)
	state(conns[0], http.StateActive)
	state(conns[0], http.StateIdle)
	state(conns[0], http.StateClosed)
	state(conns[3], http.StateNew)
	if !isOpen(conns[3]) {
		t.Fatal("no room after one has gone")
	}
}
