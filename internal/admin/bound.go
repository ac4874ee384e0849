package admin

import (
	"net"
	"net/http"
	"sync"
)

// AtMost is an http.Server's ConnState that closes connections beyond a number,
// so that clients do not use up the file descriptors of the process.
func AtMost(limit int) func(net.Conn, http.ConnState) {
	var mu sync.Mutex
	open := map[net.Conn]struct{}{}
	return func(conn net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch state {
		case http.StateNew:
			if len(open) >= limit {
				_ = conn.Close()
				return
			}
			open[conn] = struct{}{}
		case http.StateClosed, http.StateHijacked:
			delete(open, conn)
		case http.StateActive, http.StateIdle:
		}
	}
}
