package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// exchangeLarge sends messages of many sizes to a queue and receives them.
func exchangeLarge(t *testing.T, conn *amqp.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.NewSender(ctx, "/queues/q", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.NewReceiver(ctx, "/queues/q", &amqp.ReceiverOptions{Credit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size < 8<<20; size *= 3 {
		body := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		if err := s.Send(ctx, amqp.NewMessage(body), nil); err != nil {
			t.Fatal(err)
		}
		m, err := r.Receive(ctx, nil)
		if err != nil || !bytes.Equal(m.GetData(), body) {
			t.Fatalf("%d bytes did not come back: %v", size, err)
		}
		if err := r.AcceptMessage(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
}

// A client of AMQP 1.0 on a real socket sends and receives large messages, and the HTTP API shows its connection.
func TestAMQP10(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.request("PUT", "/api/queues/%2F/q", `{"durable":true}`, http.StatusCreated)
	conn, err := amqp.Dial(context.Background(), "amqp://guest:guest@"+b.amqp, nil)
	if err != nil {
		t.Fatal(err)
	}
	exchangeLarge(t, conn)
	for path, want := range map[string]string{
		"/api/connections": `"protocol":"AMQP 1-0"`, "/api/channels": `"number":0`, "/api/consumers": `"queue":{"name":"q"`,
	} {
		if got := string(b.request("GET", path, "", http.StatusOK)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "the connection is gone", func() bool { return string(b.request("GET", "/api/connections", "", http.StatusOK)) == "[]" })
}

// The same with TLS, and a login by client certificate.
func TestAMQP10_TLS(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	own := a.Issue(pkix.Name{CommonName: "app"})
	b, address := secured(t, a, t.TempDir(), "--tls-verify-peer", "--tls-login-from", "common_name")
	b.request("PUT", "/api/users/app", `{"tags":""}`, http.StatusCreated)
	b.request("PUT", "/api/permissions/%2F/app", `{"configure":".*","write":".*","read":".*"}`, http.StatusCreated)
	b.request("PUT", "/api/queues/%2F/q", `{"durable":true}`, http.StatusCreated)
	conn, err := amqp.Dial(context.Background(), "amqps://"+address, &amqp.ConnOptions{
		SASLType: amqp.SASLTypeExternal(""), TLSConfig: &tls.Config{RootCAs: a.Roots(), Certificates: []tls.Certificate{own}, ServerName: "127.0.0.1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	exchangeLarge(t, conn)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// The page of an AMQP 1.0 connection lists the links of its sessions.
func TestPageOfLinks(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.request("PUT", "/api/queues/%2F/q", `{"durable":true}`, http.StatusCreated)
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()
	conn, err := amqp.Dial(ctx, "amqp://guest:guest@"+b.amqp, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.NewSender(ctx, "/queues/q", &amqp.SenderOptions{Name: "<b>from</b>"})
	if err != nil || s.Send(ctx, amqp.NewMessage([]byte("x")), nil) != nil {
		t.Fatal(err)
	}
	r, err := session.NewReceiver(ctx, "/queues/q", &amqp.ReceiverOptions{Name: "to", Credit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Receive(ctx, nil); err != nil {
		t.Fatal(err)
	}
	w := br.open(b, "#/connections?cols=name,protocol").asGuest()
	w.sees("AMQP 1-0")
	_ = eval[bool](w, "(document.querySelector('.items a.name').click(), true)")
	for _, row := range []string{"0|0|<b>from</b>|sends|/queues/q|499|1|0", "0|1|to|receives|/queues/q|9|1|1"} {
		w.until("[...document.querySelectorAll('tbody tr')].some((r) => [...r.children].map((c) => c.textContent).join('|') === " + quoted(row) + ")")
	}
	w.shoot("links")
	w.onlyText()
}

// TestWithoutSASL: a client that does not use SASL is logged in with ANONYMOUS where that is offered; elsewhere it is told to log in.
func TestWithoutSASL(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"offered": nil, "not offered": {"--anonymous-login-user", "none"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			b := start(t, flags...)
			if flags == nil {
				b.request("PUT", "/api/queues/%2F/q", `{"durable":true}`, http.StatusCreated)
			}
			conn, err := amqp.Dial(ctx, "amqp://"+b.amqp, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if flags == nil {
				exchangeLarge(t, conn)
				return
			}
			<-conn.Done()
			var refused *amqp.ConnError
			if !errors.As(conn.Err(), &refused) || refused.RemoteErr == nil || refused.RemoteErr.Condition != amqp.ErrCondUnauthorizedAccess {
				t.Error(conn.Err())
			}
		})
	}
}
