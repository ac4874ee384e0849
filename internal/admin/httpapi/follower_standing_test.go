package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestFollowerStanding_CLU21: a connection counts as one of a user only after an answer of the API: pages come without a login, and must not
// keep the connections of users out.
func TestFollowerStanding_CLU21(t *testing.T) {
	leader := httptest.NewServer(http.HandlerFunc(tell))
	defer leader.Close()
	conn, other := net.Pipe()
	defer func() { _, _ = conn.Close(), other.Close() }()
	p := &passer{open: newSockets(10), links: map[net.Conn]*http.Transport{}, Follower: Follower{
		Dial: func(ctx context.Context, _, _ net.Addr) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", leader.Listener.Addr().String())
		},
	}}
	defer p.close()
	p.open.changed(conn, http.StateNew)
	for path, want := range map[string]standing{"/app.js": stranger, "/api/auth": stranger, "/api/overview": worker} {
		p.open.open[conn].is = stranger
		r := httptest.NewRequest("GET", "http://leader"+path, nil)
		r.RequestURI = ""
		answer, err := p.RoundTrip(r.WithContext(context.WithValue(r.Context(), socketKey{}, conn)))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if got := p.open.open[conn].is; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
