package integration

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A broker with few file descriptors refuses what is too much, goes on with who
// is there, and lets others in as soon as somebody has gone.
func TestDescriptorsRunOut(t *testing.T) {
	t.Parallel()
	const files = 60
	b := startWith(t, "ulimit -n 60;", filepath.Join(t.TempDir(), "data"))
	ch := b.dial()
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	publish := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		d, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", "q", false, false, amqp.Publishing{DeliveryMode: 2, Body: make([]byte, 1000)})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := d.WaitContext(ctx); !ok || err != nil {
			t.Fatalf("the publish was not confirmed: %v", err)
		}
	}
	for round := range 3 {
		var sockets []net.Conn
		refused := 0
		for range 2 * files {
			s, err := net.Dial("tcp", b.amqp)
			if err != nil {
				t.Fatal(err)
			}
			sockets = append(sockets, s)
		}
		wait := time.Now().Add(time.Second)
		for _, s := range sockets { // a broker that took it waits for a protocol header
			_ = s.SetReadDeadline(wait)
			if _, err := s.Read(make([]byte, 1)); err != nil && !isTimeout(err) {
				refused++
			}
		}
		if in := len(sockets) - refused; in != files/2-1 {
			t.Errorf("round %d: %d sockets are in", round, in)
		}
		publish()
		for range 40 { // one after the other, none is kept
			r, err := http.Get("http://" + b.http + "/api/overview")
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Body.Close()
			http.DefaultClient.CloseIdleConnections()
		}
		if ch.conn.IsClosed() {
			t.Fatal("the connection that was there has gone")
		}
		for _, s := range sockets {
			_ = s.Close()
		}
		publish()
		b.enters()
	}
	if n := strings.Count(b.log.String(), "a connection is refused"); n < 1 || n > 3 {
		t.Errorf("%d lines about it in the log", n)
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// enters connects, trying again while the broker has not noticed that others
// have gone.
func (b *broker) enters() {
	b.Helper()
	var err error
	for until := time.Now().Add(patience); time.Now().Before(until); {
		var conn *amqp.Connection
		if conn, err = amqp.Dial("amqp://guest:guest@" + b.amqp + "/"); err == nil {
			_ = conn.Close()
			return
		}
	}
	b.Fatalf("nobody is let in again: %v", err)
}
