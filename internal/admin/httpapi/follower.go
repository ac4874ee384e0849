package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"time"

	"candlemark/internal/admin/httpapi/rest"
)

// Follower has the functions with which a node of a cluster answers requests while another node leads (CLU-21).
type Follower struct {
	// Dial connects with the leader for a client, by its address and the one that it has called. It waits for a leader.
	Dial func(ctx context.Context, remote, local net.Addr) (net.Conn, error)
	// Pass passes a connection on as it is, behind the bytes that were read from it, and closes it at the end.
	Pass func(conn net.Conn, read []byte)
	// Leader returns the name of the leader, "" if there is none.
	Leader func() string
	// Own answers paths that are about this node.
	Own map[string]http.HandlerFunc
}

// NewFollowerServer returns the HTTP server of a node that does not lead. It passes all requests on to the leader, as the
// client has sent them, except for those of Follower.Own. Limits are as with NewServer.
func NewFollowerServer(f Follower, connections int) *http.Server {
	open := newSockets(connections)
	p := &passer{Follower: f, open: open, links: map[net.Conn]*http.Transport{}}
	s := newServer(p.handler(), open)
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		open.changed(conn, state)
		if state == http.StateClosed || state == http.StateHijacked {
			p.forget(conn)
		}
	}
	s.RegisterOnShutdown(p.close)
	return s
}

// passer passes requests on. Each client's connection has connections to the leader of its own, since they carry its address.
type passer struct {
	Follower
	open  *sockets
	mu    sync.Mutex
	links map[net.Conn]*http.Transport
}

// RoundTrip implements http.RoundTripper.
func (p *passer) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, _ := r.Context().Value(socketKey{}).(net.Conn)
	p.mu.Lock()
	t := p.links[conn]
	if t == nil {
		t = &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return p.Dial(ctx, conn.RemoteAddr(), conn.LocalAddr())
			},
			DisableCompression:  true,
			MaxIdleConnsPerHost: 1,
			IdleConnTimeout:     time.Minute,
		}
		p.links[conn] = t
	}
	p.mu.Unlock()
	answer, err := t.RoundTrip(r)
	if err == nil && answer.StatusCode < http.StatusBadRequest && strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/api/auth" { // others need no login
		p.open.works(r.Context())
	}
	return answer, err
}

// forget ends the connections to the leader of a client's connection.
func (p *passer) forget(conn net.Conn) {
	p.mu.Lock()
	t := p.links[conn]
	delete(p.links, conn)
	p.mu.Unlock()
	if t != nil {
		t.CloseIdleConnections()
	}
}

func (p *passer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.links {
		t.CloseIdleConnections()
	}
}

// hops are headers about one connection, which are not passed on.
var hops = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// handler returns the handler of all requests. Headers are passed on as they are, also those of proxies, so that the leader judges as
// if the client had called it.
func (p *passer) handler() http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport:     p,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.RawQuery = "http", "leader", r.In.URL.RawQuery
			for name, values := range r.In.Header {
				if !slices.Contains(hops, name) {
					r.Out.Header[name] = values
				}
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			reason := "no node leads the cluster at the moment"
			if leader := p.Leader(); leader != "" {
				reason = "node " + leader + ", which leads the cluster, could not be reached"
			}
			w.Header().Set("Connection", "close")
			rest.WriteError(w, rest.Refuse(http.StatusServiceUnavailable, "no_leader", reason))
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if own := p.Own[r.URL.Path]; own != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			own(w, r)
			return
		}
		if r.Header.Get("Upgrade") != "" && r.ContentLength == 0 { // a body that was begun could not be passed on
			p.upgrade(w, r)
			return
		}
		c := http.NewResponseController(w) // the leader has its own deadlines
		if c.SetReadDeadline(time.Time{}) == nil && c.SetWriteDeadline(time.Time{}) == nil {
			proxy.ServeHTTP(w, r)
		}
	})
}

// upgrade passes on a connection that may become one of WebSocket.
func (p *passer) upgrade(w http.ResponseWriter, r *http.Request) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if r.Header["User-Agent"] == nil {
		r.Header["User-Agent"] = []string{""} // not Go's own
	}
	var head bytes.Buffer
	rest, err := both.Peek(both.Reader.Buffered())
	if err == nil {
		err = r.Write(&head)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return
	}
	p.Pass(conn, append(head.Bytes(), rest...))
}

// answerJSON answers with a status and JSON.
func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// Checks returns handlers for the health checks about a node that does not lead: leader returns the name of the node that does, "" for none.
func Checks(leader func() string) map[string]http.HandlerFunc {
	serves := func(w http.ResponseWriter, _ *http.Request) {
		if leader() == "" {
			answerJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "failed", "reason": "no node leads the cluster at the moment"})
			return
		}
		answerJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	}
	return map[string]http.HandlerFunc{
		"/healthz": serves, "/api/health/checks/is-in-service": serves, "/api/health/checks/ready-to-serve-clients": serves,
	}
}
