package integration

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// lane is a queue with a producer and a consumer, both active until the broker closes their connections.
type lane struct {
	queue     string
	confirmed atomic.Int64 // numbers up to this one are confirmed
	acked     map[int]time.Time
}

func (l *lane) produce(url string) error {
	conn, err := amqp.Dial(url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	var waiting []*amqp.DeferredConfirmation
	for n := 1; ; n++ {
		d, err := ch.PublishWithDeferredConfirm("", l.queue, false, false, amqp.Publishing{DeliveryMode: 2, Body: []byte(strconv.Itoa(n))})
		if err != nil {
			break
		}
		if waiting = append(waiting, d); len(waiting) < 200 {
			continue
		}
		if !waiting[0].Wait() {
			break
		}
		waiting = waiting[1:]
		l.confirmed.Add(1)
	}
	for _, d := range waiting {
		if !d.Wait() {
			return nil
		}
		l.confirmed.Add(1)
	}
	return nil
}

func (l *lane) consume(url string) error {
	conn, err := amqp.Dial(url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Qos(50, 0, false); err != nil {
		return err
	}
	deliveries, err := ch.Consume(l.queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	for d := range deliveries {
		n, err := strconv.Atoi(string(d.Body))
		if err != nil {
			return err
		}
		if n > 90 || n%3 > 0 { // thirty messages stay unacked
			_ = d.Ack(false)
			l.acked[n] = time.Now()
		}
	}
	return nil
}

// left checks what the next broker has of the queue.
func (l *lane) left(c *client, stopped time.Time) {
	c.Helper()
	have, last := map[int]bool{}, 0
	for d := range c.taken(l.queue) {
		n, err := strconv.Atoi(string(d.Body))
		c.must(err)
		if have[n] = true; n <= last {
			c.Errorf("%s: %d comes behind %d", l.queue, n, last)
		}
		last = n
		if at, was := l.acked[n]; was && stopped.Sub(at) > time.Second {
			c.Errorf("%s: %d is back, acknowledged %v before the stop", l.queue, n, stopped.Sub(at))
		}
	}
	for n := 1; n <= int(l.confirmed.Load()); n++ {
		if _, acked := l.acked[n]; !acked && !have[n] {
			c.Errorf("%s: %d was confirmed and is lost", l.queue, n)
			return
		}
	}
	c.Logf("%s: %d confirmed, %d acknowledged, %d left", l.queue, l.confirmed.Load(), len(l.acked), len(have))
}

// A stop under load, with a client that does not answer and an HTTP request that never ends, does not exceed its time limit,
// notifies every client, loses no message and leaves a journal without a part to replay.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	b.request("PUT", "/api/user-limits/guest/max-connections", `{"value":20}`, 204)
	b.request("PUT", "/api/vhost-limits/%2F/max-queues", `{"value":3}`, 204)
	c := b.dial()
	url := "amqp://guest:guest@" + b.amqp + "/"
	lanes := []*lane{}
	var busy sync.WaitGroup
	for n := range 3 {
		l := &lane{queue: fmt.Sprint("q", n), acked: map[int]time.Time{}}
		_, err := c.QueueDeclare(l.queue, true, false, false, false, nil)
		c.must(err)
		lanes = append(lanes, l)
		for _, work := range []func(string) error{l.produce, l.consume} {
			busy.Go(func() {
				if err := work(url); err != nil {
					t.Error(err)
				}
			})
		}
	}
	b.connectUnresponsive(url)
	request, err := net.Dial("tcp", b.http)
	c.must(err)
	defer func() { _ = request.Close() }()
	_, err = request.Write([]byte("GET /api/overview HTTP/1.1\r\nHost:"))
	c.must(err)
	eventually(t, "all are busy", func() bool {
		return !slices.ContainsFunc(lanes, func(l *lane) bool { return l.confirmed.Load() < 4000 })
	})

	stopped := time.Now()
	b.stop()
	if took := time.Since(stopped); took > 30*time.Second {
		t.Errorf("the stop took %v", took)
	}
	busy.Wait()
	for _, level := range []string{`"level":"error"`, `"level":"warn"`} {
		if strings.Contains(b.log.String(), level) {
			t.Errorf("%s in the log:\n%s", level, b.log)
		}
	}
	b = startIn(t, dir)
	if !strings.Contains(b.log.String(), `"clean":true`) || !strings.Contains(b.log.String(), `"replayed":0`) {
		t.Errorf("the journal was not closed clean:\n%s", b.log)
	}
	c = b.dial()
	for _, l := range lanes {
		l.left(c, stopped)
	}
	if got := b.request("GET", "/api/user-limits", "", 200); got != `[{"user":"guest","value":{"max-connections":20}}]` {
		t.Errorf("limits %s", got)
	}
	_, err = c.QueueDeclare("one too many", true, false, false, false, nil)
	c.fails(err, amqp.PreconditionFailed, "queue limit in vhost '/' (3) is reached")
}

// connectUnresponsive connects a client that stops answering once its connection is open.
func (b *broker) connectUnresponsive(url string) {
	b.Helper()
	m := &silenceable{}
	_, err := amqp.DialConfig(url, amqp.Config{Dial: func(network, address string) (net.Conn, error) {
		var err error
		m.Conn, err = net.Dial(network, address)
		return m, err
	}})
	if err != nil {
		b.Fatal(err)
	}
	m.on.Store(true)
	b.Cleanup(func() { _ = m.Close() })
}

// silenceable is a socket that discards writes while on is set.
type silenceable struct {
	net.Conn
	on atomic.Bool
}

func (m *silenceable) Write(bytes []byte) (int, error) {
	if m.on.Load() {
		return len(bytes), nil
	}
	return m.Conn.Write(bytes)
}
