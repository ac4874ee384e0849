package broker

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mail"
	journals "candlemark/internal/storage/store"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// Everything that was confirmed to clients or acknowledged by them before a stop is kept: queues process their mailboxes, and the
// journal has it.
func TestStopSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := memory.New(memory.Options{Delay: time.Millisecond})
		const messages, acked, late = 20, 8, 3
		node, conn := slowStage(t, journal)
		closed := conn.NotifyClose(make(chan *amqp.Error, 1))
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err = ch.QueueDeclare("q", true, false, false, false, nil)
		must(err)
		v, _ := node.VHost("/")
		id := journals.QueueID(v.Directory().Queue([]byte("q")).Incarnation)
		for range messages {
			must(ch.PublishWithContext(t.Context(), "", "q", false, false, amqp.Publishing{DeliveryMode: 2, Body: []byte("m")}))
		}
		deliveries, err := ch.Consume("q", "", false, false, false, false, nil)
		must(err)
		for range acked {
			must((<-deliveries).Ack(false))
			must(ch.Flow(true)) // a round trip, so that each ack is a message of its own to the queue
		}
		for range late {
			must(ch.PublishWithContext(t.Context(), "", "q", false, false, amqp.Publishing{DeliveryMode: 2, Body: []byte("late")}))
		}
		must(ch.Flow(true))
		must(node.Stop(context.Background()))
		if e := <-closed; e == nil || e.Code != amqp.ConnectionForced {
			t.Errorf("closed with %v", e)
		}
		must(journal.Close())
		again := journal.Reopen(memory.Options{})
		defer func() { _ = again.Close() }()
		if left := again.Take(id); len(left) != messages-acked+late {
			t.Errorf("%d messages are left, want %d", len(left), messages-acked+late)
		}
		time.Sleep(time.Second) // for goroutines of the library
	})
}

// TestStopSettles_Forwarded: a message that is being forwarded when the broker stops is in one queue afterwards, not in both.
func TestStopSettles_Forwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := memory.New(memory.Options{Delay: time.Millisecond})
		node, conn := slowStage(t, journal)
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		const messages = 1000 // more than are forwarded at a time
		var ids [2]journals.QueueID
		v, _ := node.VHost("/")
		for i, args := range []amqp.Table{{"x-forward-to": "amq.fanout"}, nil} {
			name := [2]string{"from", "to"}[i]
			if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
				t.Fatal(err)
			}
			ids[i] = journals.QueueID(v.Directory().Queue([]byte(name)).Incarnation)
		}
		if err := ch.QueueBind("to", "", "amq.fanout", false, nil); err != nil {
			t.Fatal(err)
		}
		for range messages {
			if err := ch.PublishWithContext(t.Context(), "", "from", false, false, amqp.Publishing{DeliveryMode: 2}); err != nil {
				t.Fatal(err)
			}
		}
		if err := ch.Flow(true); err != nil {
			t.Fatal(err)
		}
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		again := journal.Reopen(memory.Options{})
		defer func() { _ = again.Close() }()
		if from, to := len(again.Take(ids[0])), len(again.Take(ids[1])); from+to != messages {
			t.Errorf("%d messages are in the one queue, %d in the other, of %d", from, to, messages)
		}
		time.Sleep(time.Second) // for goroutines of the library
	})
}

// slowStage returns a broker whose queues take 100 ms to process a settlement, and whose senders to queues take 1 ms to process
// an answer, with a client.
func slowStage(t *testing.T, journal journals.Journal) (*supervision.Node, *amqp.Connection) {
	t.Helper()
	node, err := supervision.Start(supervision.Config{
		Journal: journal, Log: zerolog.Nop(), Workers: 2,
		Fault: func(_ *actor.PID, what any) bool {
			switch what.(type) {
			case *mail.Settle:
				time.Sleep(100 * time.Millisecond)
			case *mail.EnqueueReply:
				time.Sleep(time.Millisecond)
			}
			return false
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	node.Connect(ours)
	conn, err := amqp.Open(theirs, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return node, conn
}

// levels records the levels of log messages.
type levels struct {
	mu  sync.Mutex
	bad []string
}

func (l *levels) Write(line []byte) (int, error) { return l.WriteLevel(zerolog.NoLevel, line) }

func (l *levels) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if level >= zerolog.ErrorLevel {
		l.bad = append(l.bad, string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}

// A client that does not answer, one that does not read, and one in its handshake do not delay a stop beyond its limit, and none
// of them is logged as an error.
func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		journal := memory.New(memory.Options{})
		log := &levels{}
		node, err := supervision.Start(supervision.Config{Journal: journal, Log: zerolog.New(log), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			ours, theirs := net.Pipe()
			node.Connect(ours)
			gate := &gate{Conn: theirs}
			if _, err := amqp.Open(gate, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/"}); err != nil {
				t.Fatal(err)
			}
			gate.shut()
			defer theirs.Close()
		}
		ours, theirs := net.Pipe()
		node.Connect(ours)
		defer theirs.Close()
		synctest.Wait()
		begin := time.Now()
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 4*time.Second {
			t.Errorf("took %v", took)
		}
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // for short-lived goroutines of the actor library
		if len(log.bad) > 0 {
			t.Errorf("errors in the log:\n%s", strings.Join(log.bad, "\n"))
		}
	})
}

// gate is the client's side of a connection; once it is shut, its writes are discarded.
type gate struct {
	net.Conn
	mu     sync.Mutex
	closed bool
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if closed {
		return len(b), nil
	}
	return g.Conn.Write(b)
}
