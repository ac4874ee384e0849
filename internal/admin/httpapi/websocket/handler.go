package websocket

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/admin/httpapi/site"
	"candlemark/internal/admin/management"

	library "github.com/coder/websocket"
)

// Path is where the SDKs of Azure Service Bus look for it.
const Path = "/$servicebus/websocket"

// protocols are AMQP's names as a subprotocol of WebSocket: the registered name, and the name in earlier drafts, which
// Azure's SDKs use.
var protocols = []string{"amqp", "AMQPWSB10"}

// NewHandler makes the handler of Path, for requests that passed site.Rules. Errors: 426 for a request other than
// WebSocket's, 403 for a browser's from the page of another site, 400 for one that asks for other protocols only.
func NewHandler(broker management.Sockets) http.Handler {
	leaving := new(atomic.Int64)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wanted := r.Header.Values("Sec-WebSocket-Protocol"); len(wanted) > 0 && !slices.ContainsFunc(wanted, known) {
			http.Error(w, "this address speaks AMQP over WebSocket: set Sec-WebSocket-Protocol to amqp or AMQPWSB10", http.StatusBadRequest)
			return
		}
		below := &hijacker{ResponseWriter: w, broker: broker}
		socket, err := library.Accept(below, r, &library.AcceptOptions{Subprotocols: protocols})
		if err != nil {
			return // it has answered
		}
		c := &conn{Conn: library.NetConn(context.Background(), socket, library.MessageBinary), frames: socket, socket: below.socket, leaving: leaving, elsewhere: site.Elsewhere(r.Context())}
		if r.TLS != nil {
			broker.Connect(&secure{c, *r.TLS})
		} else {
			broker.Connect(c)
		}
	})
}

// known reports whether a header with names of protocols has a supported one.
func known(header string) bool {
	for name := range strings.SplitSeq(header, ",") {
		if slices.ContainsFunc(protocols, func(p string) bool { return strings.EqualFold(p, strings.TrimSpace(name)) }) {
			return true
		}
	}
	return false
}

// hijacker has the library write to a socket that is patient.
type hijacker struct {
	http.ResponseWriter
	broker management.Sockets
	socket net.Conn
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	socket, both, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if err := socket.SetDeadline(time.Time{}); err != nil { // the HTTP server's deadlines end
		return nil, nil, err
	}
	h.socket = socket
	patient := h.broker.Patient(socket)
	both.Writer.Reset(patient)
	return patient, both, nil
}

// conn is a connection over WebSocket.
type conn struct {
	net.Conn
	frames  *library.Conn
	socket  net.Conn
	leaving *atomic.Int64 // connections that say farewell
	// elsewhere: the client is not on this machine.
	elsewhere bool
	closing   sync.Once
}

// Elsewhere implements auth.Foreign.
func (c *conn) Elsewhere() bool { return c.elsewhere }

// NetConn returns the socket, by which the broker sees that the peer is gone.
func (c *conn) NetConn() net.Conn { return c.socket }

// SetWriteDeadline implements net.Conn. The socket below sees to what does not move; a deadline here would end the connection.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// farewell is how long a peer has to answer the close of WebSocket, and maxFarewells how many peers the broker waits
// for: such peers no longer count among its connections.
const (
	farewell     = time.Second
	maxFarewells = 64
)

// Close implements net.Conn. It does not wait: the closing handshake has its own goroutine. The socket is closed in
// any case.
func (c *conn) Close() error {
	c.closing.Do(func() {
		if c.leaving.Add(1) > maxFarewells {
			c.hangUp()
		}
		late := time.AfterFunc(farewell, c.hangUp)
		go func() {
			defer c.leaving.Add(-1)
			_ = c.frames.Close(library.StatusNormalClosure, "")
			_ = c.Conn.Close() // its timers
			late.Stop()
			c.hangUp()
		}()
	})
	return nil
}

func (c *conn) hangUp() { HangUp(c.socket) }

// HangUp closes a connection of a server of HTTP at once: TLS's last words would wait for room in its socket, and the caller with it.
func HangUp(conn net.Conn) {
	if secure, is := conn.(*tls.Conn); is {
		conn = secure.NetConn()
	}
	_ = conn.Close()
}

// secure is one over TLS.
type secure struct {
	*conn
	state tls.ConnectionState
}

// ConnectionState returns the state of TLS.
func (s *secure) ConnectionState() tls.ConnectionState { return s.state }
