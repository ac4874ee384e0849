package broker

import (
	"bytes"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// stallable is a client's socket on which the client can stop reading.
type stallable struct {
	net.Conn
	stalled atomic.Bool
	resume  chan struct{}
}

func (s *stallable) Read(b []byte) (int, error) {
	if s.stalled.Load() {
		<-s.resume
	}
	return s.Conn.Read(b)
}

// A consumer whose socket is stalled is sent 10,000 messages: the messages in flight stay within its window, other clients are
// not delayed, and nothing is missing when it reads again (PRO-8).
func TestStalledConsumer(t *testing.T) {
	for _, noAck := range []bool{false, true} {
		t.Run(fmt.Sprint("without acknowledgements ", noAck), func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) { stalls(b, noAck) })
		})
	}
}

func stalls(b *testkit.Bubble, noAck bool) {
	const count, size = 10_000, 1 << 10
	ours, theirs := net.Pipe()
	b.Node.Connect(ours)
	socket := &stallable{Conn: theirs, resume: make(chan struct{})}
	conn, err := amqp.Open(socket, amqp.Config{
		SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/",
	})
	if err != nil {
		b.Fatal(err)
	}
	slow, err := conn.Channel()
	if err != nil {
		b.Fatal(err)
	}
	ch, other := b.Connect().Open(), b.Connect().Open()
	ch.Declare("q", nil)
	ch.Declare("quick", nil)
	deliveries, err := slow.Consume("q", "slow", noAck, false, false, false, nil)
	if err != nil {
		b.Fatal(err)
	}
	quick := other.Tail("quick")
	synctest.Wait()
	socket.stalled.Store(true)

	began := time.Now()
	ch.Confirms()
	body := bytes.Repeat([]byte{'m'}, size)
	for i := range count {
		d := ch.Begin("", "q", false, amqp.Publishing{Body: body, MessageId: fmt.Sprint(i)})
		if i%1000 == 999 {
			if !ch.Await(d) {
				b.Fatalf("publish %d: nack", i)
			}
			other.Send("", "quick", testkit.Text(fmt.Sprint(i)))
			if d := testkit.Receive(b, quick); string(d.Body) != fmt.Sprint(i) {
				b.Fatalf("quick: %s", d.Body)
			}
		}
	}
	synctest.Wait()
	if took := time.Since(began); took > 0 {
		b.Errorf("others waited %s", took)
	}
	info := b.Describe("q")
	if under := count - info.Ready; under*size > 3<<20 || !noAck && info.Unacked != under {
		b.Errorf("%d are under way to a socket that does not take them, %d unacknowledged", under, info.Unacked)
	}

	socket.stalled.Store(false)
	close(socket.resume)
	complete(b, deliveries, count, noAck)
}

// complete receives count deliveries, in order, and settles them.
func complete(b *testkit.Bubble, deliveries <-chan amqp.Delivery, count int, noAck bool) {
	for i := range count {
		d, ok := testkit.TryReceive(deliveries, time.Minute)
		if !ok || d.MessageId != fmt.Sprint(i) {
			b.Fatalf("delivery %d: %s", i, d.MessageId)
		}
		if !noAck && i%1000 == 999 {
			if err := d.Ack(true); err != nil {
				b.Fatal(err)
			}
		}
	}
	synctest.Wait()
	if info := b.Describe("q"); info.Ready+info.Unacked != 0 {
		b.Errorf("%d ready, %d unacknowledged", info.Ready, info.Unacked)
	}
}
