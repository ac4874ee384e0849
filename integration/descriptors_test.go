package integration

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A broker with few file descriptors refuses excess connections, serves the existing ones, and accepts others as soon as some are
// closed.
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
		leave := func() {
			for _, s := range sockets {
				_ = s.Close()
			}
		}
		eventually(t, "there are as many sockets as possible", func() bool { // sockets of the last round may still count
			leave()
			sockets = b.sockets(2 * files)
			in := waiting(sockets)
			t.Logf("round %d: %d sockets are in", round, in)
			return in <= files/2-1 && in >= files/2-3
		})
		publish()
		for range 40 { // one after the other, each closed again
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
		leave()
		publish()
		b.enters()
	}
	if n := strings.Count(b.log.String(), "a connection is refused"); n < 1 || n > 3 {
		t.Errorf("%d lines about it in the log", n)
	}
}

// sockets returns connections without a protocol header.
func (b *broker) sockets(n int) (all []net.Conn) {
	b.Helper()
	for range n {
		s, err := net.Dial("tcp", b.amqp)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// waiting returns the number of sockets on which the broker waits for a protocol header; it has closed the others.
func waiting(sockets []net.Conn) int {
	var in atomic.Int32
	var all sync.WaitGroup
	for _, s := range sockets {
		all.Go(func() {
			_ = s.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := s.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				in.Add(1)
			}
		})
	}
	all.Wait()
	return int(in.Load())
}

// enters connects, and retries while the broker has not noticed that other connections are closed.
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
