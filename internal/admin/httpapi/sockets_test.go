package httpapi

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/site"
	"candlemark/internal/admin/management"

	"github.com/rs/zerolog"
)

// peer is a connection from an address that records whether it was closed.
type peer struct {
	net.Conn
	from   string
	closed bool
}

func (p *peer) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", p.from)
	return a
}

func (p *peer) Close() error {
	p.closed = true
	return nil
}

// TestSockets: to make room, connections without a login are closed first, then idle ones, the oldest first; connections
// that serve a request are not closed; and one address cannot use all places.
func TestSockets(t *testing.T) {
	s := newSockets(8) // at most 6 per address
	var all []*peer
	enter := func(from string) *peer {
		p := &peer{from: from}
		all = append(all, p)
		s.changed(p, http.StateNew)
		return p
	}
	works := func(p *peer) {
		s.changed(p, http.StateActive)
		s.works(context.WithValue(context.Background(), socketKey{}, net.Conn(p)))
	}
	expect := func(closed ...*peer) {
		t.Helper()
		for i, p := range all {
			if p.closed != slices.Contains(closed, p) {
				t.Errorf("connection %d: closed %v", i, p.closed)
			}
		}
	}
	worker, idle, first := enter("192.0.2.1:1"), enter("192.0.2.1:2"), enter("192.0.2.1:3")
	works(worker)
	works(idle)
	s.changed(idle, http.StateIdle)
	second, third, fourth := enter("[::ffff:192.0.2.1]:4"), enter("192.0.2.1:5"), enter("192.0.2.1:6")
	s.changed(first, http.StateActive) // part of a request is not an authenticated request
	s.changed(first, http.StateIdle)   // no authenticated request either, but it is now the most recently used
	expect()
	fifth := enter("192.0.2.1:7")
	expect(second)
	one, two := enter("[2001:db8::1]:1"), enter("[2001:db8::2]:1")
	expect(second)
	afar := enter("203.0.113.1:1") // all 8 places are in use
	expect(second, third)
	s.changed(third, http.StateClosed) // reported by the server for each closed connection
	for _, p := range []*peer{first, fourth, fifth, one, two} {
		works(p)
	}
	again := enter("192.0.2.1:8")
	expect(second, third, afar)
	works(again)
	last := enter("192.0.2.1:9")
	expect(second, third, afar, idle)
	works(last)
	refused := enter("192.0.2.1:10")
	expect(second, third, afar, idle, refused)
	s.changed(worker, http.StateClosed)
	enter("192.0.2.1:11")
	expect(second, third, afar, idle, refused)
	if len(s.open) > 8 {
		t.Errorf("%d are open", len(s.open))
	}
	for _, p := range all {
		s.changed(p, http.StateClosed)
	}
	if len(s.open) != 0 {
		t.Errorf("%d are left", len(s.open))
	}
}

// TestIdleConnectionsKeepNobodyOut: idle connections, connections with an incomplete request, and refused ones that
// stay open do not prevent others from being served.
func TestIdleConnectionsKeepNobodyOut(t *testing.T) {
	server := NewServer(newFake("/"), someUsers(), site.New(site.Config{}), 8, config.Samples{}, zerolog.Nop())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	defer func() {
		if err := server.Close(); err != nil || !errors.Is(<-ended, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for i := range 90 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		switch i % 3 {
		case 1:
			_, _ = io.WriteString(c, "GET /api/overview HTTP/1.1\r\n")
		case 2:
			_, _ = io.WriteString(c, "GET /api/overview HTTP/1.1\r\nHost: x\r\n\r\n")
			_, _ = bufio.NewReader(c).Peek(1)
		}
		if i%10 != 9 {
			continue
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/api/whoami", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("guest", "guest")
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: i%20 == 9}, Timeout: 20 * time.Second}
		answer, err := client.Do(r)
		if err != nil || answer.StatusCode != 200 {
			t.Fatalf("beside %d connections: %v %v", i+1, answer, err)
		}
		_ = answer.Body.Close()
	}
}

// TestHangUpWaitsForNobody: closing a connection does not wait until the client reads the TLS close_notify.
func TestHangUpWaitsForNobody(t *testing.T) {
	ours, theirs := net.Pipe() // writes block until the peer reads
	defer theirs.Close()
	s := newSockets(1)
	conn := tls.Server(ours, &tls.Config{MinVersion: tls.VersionTLS12})
	s.changed(conn, http.StateNew)
	s.changed(&peer{from: "192.0.2.1:1"}, http.StateNew)
	if _, err := ours.Write([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// TestServerLog: failed TLS handshakes are logged at the level debug, other errors at the level error.
func TestServerLog(t *testing.T) {
	var text strings.Builder
	s := NewServer(newFake("/"), users, site.New(site.Config{}), 10, config.Samples{}, zerolog.New(&text))
	s.ErrorLog.Print("http: TLS handshake error from 192.0.2.1:1: EOF")
	s.ErrorLog.Print("http: panic serving 192.0.2.1:1: oops")
	if got := text.String(); strings.Count(got, `"level":"debug"`) != 1 || strings.Count(got, `"level":"error"`) != 1 || strings.Contains(got, `\n`) {
		t.Error(got)
	}
}

// exchanging is a fake with one exchange.
type exchanging struct{ *fake }

func (exchanging) Exchange(_ context.Context, vhost, name string) (*management.Exchange, error) {
	if vhost != "/" || name != "x" {
		return nil, nil
	}
	return &management.Exchange{VHost: "/", Name: "x", Type: "direct"}, nil
}

// unread is a body that must not be read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Helper()
	u.Error("a body was read")
	return 0, io.EOF
}

// TestBodiesAreReadLast: a request without a login, without permission, or with too large a Content-Length is refused
// before its body is read.
func TestBodiesAreReadLast(t *testing.T) {
	f := newFixture(t)
	_, errUser := f.users.PutAccount(auth.Account{Name: "viewer", Hash: auth.HashPassword("v"), Tags: []string{"management"}})
	_, errGrant := f.users.PutGrant(auth.Grant{User: "viewer", VHost: "/"})
	if err := errors.Join(errUser, errGrant); err != nil {
		t.Fatal(err)
	}
	f.queues = append(f.queues, management.Queue{VHost: "/", Name: "q"})
	h := NewHandler(exchanging{f}, f.users, zerolog.Nop())
	ask := func(as, request string, length int64, want int) {
		t.Helper()
		method, path, _ := strings.Cut(request, " ")
		r := httptest.NewRequest(method, path, unread{t})
		r.ContentLength = length
		if name, password, ok := strings.Cut(as, ":"); ok {
			r.SetBasicAuth(name, password)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s as %q: %d %s", request, as, w.Code, w.Body)
		}
	}
	for _, request := range []string{
		"PUT /api/queues/%2F/n", "PUT /api/exchanges/%2F/n", "POST /api/queues/%2F/q/get", "POST /api/exchanges/%2F/x/publish",
		"POST /api/bindings/%2F/e/x/q/q", "PUT /api/policies/%2F/p", "PUT /api/operator-policies/%2F/p", "PUT /api/users/u",
		"PUT /api/parameters/operator_policy/%2F/p", "PUT /api/vhosts/v", "PUT /api/permissions/%2F/viewer",
	} {
		for _, as := range []string{"", "guest:wrong", "viewer:v"} {
			ask(as, request, -1, 401)
		}
		ask(guest, request, 24<<20+1, 400)
	}
}

// TestCrossSiteRequestsChangeNothing: requests that a browser sends for a page of another site are refused.
func TestCrossSiteRequestsChangeNothing(t *testing.T) {
	f := newFixture(t)
	h := NewHandler(f, f.users, zerolog.Nop())
	for _, c := range []struct {
		method, site, origin string
		want                 int
	}{
		{"PUT", "", "", 201},
		{"PUT", "same-origin", "http://example.com", 204},
		{"PUT", "none", "", 204},
		{"PUT", "cross-site", "", 403},
		{"PUT", "same-site", "", 403},
		{"PUT", "", "http://other.example", 403},
		{"PUT", "", "null", 403},
		{"DELETE", "cross-site", "", 403},
		{"GET", "cross-site", "http://other.example", 403},
		{"PUT", "", "http://example.com", 204},
	} {
		r := httptest.NewRequest(c.method, "/api/policies/%2F/p", strings.NewReader(ttlBody))
		r.Header.Set("Content-Type", "text/plain")
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		r.SetBasicAuth("guest", "guest")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

func TestRootIsAPage(t *testing.T) {
	h := NewHandler(newFake("/"), users, zerolog.Nop())
	for _, path := range []string{"/api", "/api/", "/api/index.html"} {
		if w := do(t, h, "", "GET", path, ""); w.Code != 200 || !strings.Contains(w.Body.String(), "/api/overview") || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d %s %v", path, w.Code, w.Body, w.Header())
		}
	}
}
