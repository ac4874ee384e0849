package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/websocket"
)

// sockets bounds the connections of a server, so that clients do not use up the file descriptors of the process, and so
// that idle connections never keep out busy ones: when there are too many, the oldest one of the lowest standing is
// closed.
type sockets struct {
	limit  int // in all
	source int // from one source of logins
	mu     sync.Mutex
	open   map[net.Conn]*socket
	number uint64
}

// standing is the priority of a connection for keeping its place.
type standing uint8

const (
	stranger standing = iota // without a login
	idler                    // logged in, without a request
	worker                   // with a request of a logged-in user
)

type socket struct {
	from   netip.Prefix
	number uint64 // of its last change, in order
	is     standing
}

func newSockets(limit int) *sockets {
	return &sockets{limit: limit, source: max(limit*3/4, 1), open: map[net.Conn]*socket{}}
}

// socketKey finds the connection of a request in its context.
type socketKey struct{}

// watch makes a server report its connections.
func (s *sockets) watch(server *http.Server) {
	server.ConnState = s.changed
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, socketKey{}, c)
	}
}

// changed is an http.Server's ConnState.
func (s *sockets) changed(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.enter(conn)
	case http.StateClosed, http.StateHijacked:
		delete(s.open, conn)
	case http.StateIdle:
		if k := s.open[conn]; k != nil {
			k.is = min(k.is, idler)
			s.number++
			k.number = s.number
		}
	case http.StateActive: // its standing changes with the login
	}
}

// works marks the connection of an authenticated request as busy.
func (s *sockets) works(ctx context.Context) {
	conn, ok := ctx.Value(socketKey{}).(net.Conn)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.open[conn]; k != nil {
		k.is = worker
	}
}

// enter gives a new connection a place, and may evict another one for it. If all others from its address, or all
// connections, are busy, there is none.
func (s *sockets) enter(conn net.Conn) {
	s.number++
	k := &socket{from: auth.Source(conn.RemoteAddr()), number: s.number}
	same := 0
	for _, other := range s.open {
		if other.from == k.from {
			same++
		}
	}
	if same >= s.source && !s.evict(func(other *socket) bool { return other.from == k.from }) ||
		len(s.open) >= s.limit && !s.evict(func(*socket) bool { return true }) {
		websocket.HangUp(conn)
		return
	}
	s.open[conn] = k
}

// evict closes the oldest of the given connections with the lowest standing, unless all of them are busy.
func (s *sockets) evict(among func(*socket) bool) bool {
	var least net.Conn
	var its *socket
	for conn, k := range s.open {
		if k.is < worker && among(k) && (its == nil || k.is < its.is || k.is == its.is && k.number < its.number) {
			least, its = conn, k
		}
	}
	if its == nil {
		return false
	}
	delete(s.open, least)
	websocket.HangUp(least)
	return true
}
