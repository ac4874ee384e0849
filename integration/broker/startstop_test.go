package broker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// start starts a broker on a real socket and returns its URL and a function to stop it. The leak check at the end of the package
// detects anything left over.
func start(t *testing.T) (url string, stop func()) {
	t.Helper()
	guest := auth.NewGuest()
	journal := memory.New(memory.Options{})
	node, err := supervision.Start(supervision.Config{
		Authenticator: guest, Permissions: guest, Journal: journal, Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	address, err := node.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return "amqp://guest:guest@" + address.String() + "/", func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error("stop:", err)
		}
		if err := node.Stop(context.Background()); err != nil {
			t.Error("second stop:", err)
		}
		if err := journal.Close(); err != nil {
			t.Error("close:", err)
		}
		if conn, err := net.Dial("tcp", address.String()); err == nil {
			_ = conn.Close()
			t.Error("the listener is still open")
		}
	}
}

func TestStartStopIdle(t *testing.T) {
	for range 50 {
		_, stop := start(t)
		stop()
	}
}

// The broker stops while clients are working: they get an error, and every publish was confirmed or is known to be unconfirmed.
func TestStartStopBusy(t *testing.T) {
	const rounds, clients = 50, 4
	for range rounds {
		url, stop := start(t)
		var working, ended sync.WaitGroup
		for n := range clients {
			working.Add(1)
			ended.Go(func() { work(t, url, n, working.Done) })
		}
		working.Wait()
		stop()
		ended.Wait()
	}
}

// work publishes and consumes until the broker closes the connection; it calls started after 100 publishes, or on an error.
func work(t *testing.T, url string, n int, started func()) {
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Error(err)
		started()
		return
	}
	defer func() { _ = conn.Close() }()
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	ch, err := conn.Channel()
	if err != nil {
		t.Error(err)
		started()
		return
	}
	queue := fmt.Sprint("q", n/2)
	_, err1 := ch.QueueDeclare(queue, true, false, false, false, amqp.Table{"x-message-ttl": 1, "x-dead-letter-exchange": "amq.fanout"})
	deliveries, err2 := ch.Consume(queue, "", true, false, false, false, nil)
	if err := errors.Join(err1, err2, ch.Confirm(false)); err != nil {
		t.Error(err)
		started()
		return
	}
	go func() {
		for range deliveries {
		}
	}()
	for i := 0; ; i++ {
		m := amqp.Publishing{Body: make([]byte, 100), DeliveryMode: uint8(1 + i%2)}
		confirm, err := ch.PublishWithDeferredConfirm("", queue, false, false, m)
		if err != nil {
			break
		}
		if i%16 == 15 && !confirm.Wait() {
			break // the channel was closed
		}
		if i == 100 {
			started()
		}
	}
	if e := <-closed; e != nil && e.Code != amqp.ConnectionForced && e.Code != amqp.FrameError { // FrameError: the client library's code for the end of the stream
		t.Errorf("closed with %v", e)
	}
}

// Idle clients, and clients that have stopped reading, delay a stop for a bounded time.
func TestStopWithStalledClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guest := auth.NewGuest()
		journal := memory.New(memory.Options{})
		defer func() { _ = journal.Close() }()
		node, err := supervision.Start(supervision.Config{
			Authenticator: guest, Permissions: guest, Journal: journal, Log: zerolog.Nop(), StopTimeout: 5 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		silent, ours := net.Pipe()
		defer func() { _ = silent.Close() }()
		node.Connect(ours)
		theirs, stalled := net.Pipe()
		node.Connect(theirs)
		client := &stallableConn{Conn: stalled, end: make(chan struct{})}
		conn, err := amqp.Open(client, amqp.Config{
			SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/",
		})
		if err != nil {
			t.Fatal(err)
		}
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		client.stalled.Store(true)
		begun := time.Now()
		_ = node.Stop(context.Background()) // the error for forcibly closed connections does not matter here
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("took %s", took)
		}
		close(client.end)
		time.Sleep(time.Minute)
	})
}

// stallableConn is a socket whose owner can stop reading: later data is discarded.
type stallableConn struct {
	net.Conn
	stalled atomic.Bool
	end     chan struct{}
}

func (m *stallableConn) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if m.stalled.Load() {
		<-m.end
		return 0, io.EOF
	}
	return n, err
}

// Two brokers in one process share nothing (PRO-17).
func TestTwoBrokers(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		guest := auth.NewGuest()
		journal := memory.New(memory.Options{})
		defer func() { _ = journal.Close() }()
		node, err := supervision.Start(supervision.Config{Authenticator: guest, Permissions: guest, Journal: journal, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		other := &testkit.Bubble{T: t, Node: node, Log: &testkit.Log{}}
		mine, theirs := b.Connect().Open(), other.Connect().Open()
		mine.Declare("q", amqp.Table{"x-max-length": 1})
		theirs.Declare("q", amqp.Table{"x-max-length": 2})
		b.SetPolicy("p", `{"pattern":".","definition":{"message-ttl":100}}`)
		for range 3 {
			mine.Send("", "q", testkit.Text("m"))
			theirs.Send("", "q", testkit.Text("m"))
		}
		synctest.Wait()
		if m, o := b.Describe("q").Ready, other.Describe("q").Ready; m != 1 || o != 2 {
			t.Errorf("mine has %d, the other's %d", m, o)
		}
		b.Advance(time.Second)
		if m, o := b.Describe("q").Ready, other.Describe("q").Ready; m != 0 || o != 2 {
			t.Errorf("after the TTL mine has %d, the other's %d", m, o)
		}
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		mine.Declare("new", nil)
		if b.Queue("new") == nil {
			t.Error("the other broker's end has ended mine")
		}
		b.Advance(time.Second)
	})
}
