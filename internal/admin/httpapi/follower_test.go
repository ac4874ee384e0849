package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// tell answers with what it was asked.
func tell(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s %s host=%s for=%s real=%s agent=%q", r.Method, r.URL.EscapedPath()+"?"+r.URL.RawQuery, r.Host, r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Real-Ip"), r.Header.Values("User-Agent"))
}

// asks sends a request, and expects a status and a body.
func asks(t *testing.T, conn net.Conn, in *bufio.Reader, request, want string) {
	t.Helper()
	if _, err := io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	if got := fmt.Sprint(r.StatusCode, " ", strings.TrimSpace(string(body))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestFollower_CLU21: requests reach the leader as they are, with the address of their client, and its own checks are answered by the node.
func TestFollower_CLU21(t *testing.T) {
	leader := httptest.NewServer(http.HandlerFunc(tell))
	defer leader.Close()
	var down atomic.Bool
	remotes, passed := make(chan net.Addr, 10), make(chan string, 1)
	name := func() string { return map[bool]string{false: "n2"}[down.Load()] }
	s := NewFollowerServer(Follower{
		Dial: func(ctx context.Context, remote, _ net.Addr) (net.Conn, error) {
			remotes <- remote
			if down.Load() {
				return nil, errors.New("no leader")
			}
			return new(net.Dialer).DialContext(ctx, "tcp", leader.Listener.Addr().String())
		},
		Pass: func(conn net.Conn, read []byte) {
			passed <- string(read)
			_ = conn.Close()
		},
		Leader: name, Own: Checks(name),
	}, 10)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	ask := func(request, want string) {
		t.Helper()
		asks(t, conn, in, request, want)
	}
	ask("GET /healthz HTTP/1.1\nHost: x", `200 {"status":"ok"}`)
	ask("GET /api/queues/%2F//..?a=1;b HTTP/1.1\nHost: candle:1\nX-Forwarded-For: 192.0.2.1\nX-Real-Ip: y\nConnection: X-Real-Ip", `200 GET /api/queues/%2F//..?a=1;b host=candle:1 for=192.0.2.1 real=y agent=[]`)
	ask("DELETE /healthz HTTP/1.1\nHost: x", `200 DELETE /healthz? host=x for= real= agent=[]`)
	if remote := <-remotes; remote.String() != conn.LocalAddr().String() || len(remotes) > 0 {
		t.Errorf("the leader was dialed for %v and %d others", remote, len(remotes))
	}
	ask("POST /ws HTTP/1.1\nHost: x\nConnection: Upgrade\nUpgrade: websocket\nTransfer-Encoding: chunked\n\n23\nGET /smuggled HTTP/1.1\nHost: x\n\n\n0", `200 POST /ws? host=x for= real= agent=[]`)
	down.Store(true)
	leader.CloseClientConnections()
	ask("GET /healthz HTTP/1.1\nHost: x", `503 {"reason":"no node leads the cluster at the moment","status":"failed"}`)
	ask("GET /api/overview HTTP/1.1\nHost: x", `503 {"error":"no_leader","reason":"no node leads the cluster at the moment"}`)
	_ = conn.Close()
	if conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nmore")
	if got := <-passed; !strings.HasPrefix(got, "GET /ws HTTP/1.1\r\nHost: x\r\n") || strings.Contains(got, "User-Agent") || !strings.Contains(got, "Upgrade: websocket\r\n") {
		t.Errorf("passed %q", got)
	}
	_ = conn.Close()
	_ = s.Close()
}
