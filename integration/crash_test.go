package integration

import (
	"context"
	wire "encoding/binary"
	"flag"
	"hash/crc32"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var (
	crashRounds = flag.Int("crash-rounds", 1, "how often TestCrash and similar tests kill the broker; .ci/weekly does it 30 times")
	crashSeed   = flag.Uint64("crash-seed", 0, "seed of TestCrash, 0 for any")
)

// loggedSeed returns the seed of a test's random numbers, and logs it.
func loggedSeed(t *testing.T) uint64 {
	t.Helper()
	seed := *crashSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-crash-seed %d", seed)
	return seed
}

// order identifies a message by its producer and a number, counted from 1.
type order struct{ producer, number uint32 }

// body returns a message's body: its identification, bytes derived from it, and their checksum.
func (o order) body() []byte {
	r := rand.New(rand.NewPCG(uint64(o.producer), uint64(o.number)))
	size := r.IntN(300)
	switch r.IntN(50) {
	case 0:
		size = r.IntN(20 << 10)
	case 1:
		size = 0
	}
	b := wire.BigEndian.AppendUint32(nil, o.producer)
	b = wire.BigEndian.AppendUint32(b, o.number)
	for range size {
		b = append(b, byte(r.Uint32()))
	}
	return wire.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// queue returns the queue, or the delayed exchange, to which it is published.
func (o order) queue() string { return crashQueues[int(o.number)%len(crashQueues)] }

// publish publishes the message: without a delivery mode where every message is stored.
func (o order) publish(c *client) error {
	m := amqp.Publishing{Body: o.body()}
	exchange, key := "", o.queue()
	switch key {
	case "quorum":
	case "later":
		exchange, m.Headers = key, amqp.Table{"x-delay": int32(o.number % 300)}
	default:
		m.DeliveryMode = amqp.Persistent
	}
	return c.PublishWithContext(context.Background(), exchange, key, false, false, m)
}

// parseOrder parses a body; it returns false if the body is damaged.
func parseOrder(b []byte) (order, bool) {
	if len(b) < 12 {
		return order{}, false
	}
	sum := len(b) - 4
	o := order{wire.BigEndian.Uint32(b), wire.BigEndian.Uint32(b[4:])}
	return o, wire.BigEndian.Uint32(b[sum:]) == crc32.ChecksumIEEE(b[:sum])
}

// books record what producers sent and consumers received.
type books struct {
	*testing.T
	mu        sync.Mutex
	confirmed map[order]bool
	acked     map[order]ack
	stored    map[string]time.Time // by queue: when the latest confirmed publish began
	again     int                  // delivered again although acknowledged
	next      [producers]uint32
}

// ack is an acknowledgement. The journal has it if it has a message that was published to the same queue later.
type ack struct {
	queue string
	read  time.Time // when the broker had read it; zero if unknown, or if the broker was killed before it was stored
	kept  bool      // it was stored before the broker was killed
}

const producers = 4

// crashQueues are the queues to which producers publish in turn; messages that expire in timed are dead-lettered to
// dead, and messages held by the exchange later are released to the queue released.
var crashQueues = []string{"orders", "invoices", "timed", "dead", "quorum", "later"}

// crashConsumed are the consumed queues.
var crashConsumed = []string{"orders", "invoices", "dead", "quorum", "released"}

// TestCrash kills the broker at random moments under load and accounts for every message: confirmed messages were delivered or
// are still queued, whole and in order, and messages whose acknowledgement was stored are not delivered again, except dead letters
// and released ones. Messages to a quorum queue and to a delayed exchange have no delivery mode (STORE-1).
func TestCrash(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(loggedSeed(t), 1))
	k := &books{T: t, confirmed: map[order]bool{}, acked: map[order]ack{}, stored: map[string]time.Time{}}
	dir := filepath.Join(t.TempDir(), "data")
	for range *crashRounds {
		k.round(startIn(t, dir), time.Duration(200+r.IntN(700))*time.Millisecond)
	}
	b := startIn(t, dir)
	k.drain(b)
	b.stop()
	lost := 0
	for o := range k.confirmed {
		if _, ok := k.acked[o]; !ok {
			lost++
		}
	}
	t.Logf("%d confirmed, %d acknowledged, %d came again", len(k.confirmed), len(k.acked), k.again)
	if lost > 0 {
		t.Errorf("%d confirmed messages are lost", lost)
	}
}

// round runs producers and consumers until the broker is killed.
func (k *books) round(b *broker, length time.Duration) {
	c := b.dial()
	k.declare(c)
	var working sync.WaitGroup
	for p := range uint32(producers) {
		conn := b.dial()
		working.Go(func() { k.produce(conn, p) })
	}
	for _, q := range crashConsumed {
		conn := b.dial()
		working.Go(func() { k.consume(conn, q) })
	}
	<-time.After(length) // chosen by the test
	b.kill()
	working.Wait()
	for o, a := range k.acked {
		a.kept = a.kept || a.read.Before(k.stored[a.queue]) && !a.read.IsZero()
		a.read = time.Time{}
		k.acked[o] = a
	}
}

func (k *books) declare(c *client) {
	quorum := amqp.Table{"x-queue-type": "quorum"}
	for q, args := range map[string]amqp.Table{
		"orders": nil, "invoices": nil, "dead": nil, "quorum": quorum, "released": quorum,
		"timed": {"x-message-ttl": 150, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"},
	} {
		_, err := c.QueueDeclare(q, true, false, false, false, args)
		c.must(err)
	}
	c.must(c.ExchangeDeclare("later", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"}))
	c.must(c.QueueBind("released", "", "later", false, nil))
}

// produce publishes, with up to 200 messages unconfirmed, until the connection ends.
func (k *books) produce(c *client, p uint32) {
	confirms := c.NotifyPublish(make(chan amqp.Confirmation, 256))
	window := make(chan struct{}, 200)
	first := k.next[p]
	read := make(chan struct{})
	began := map[order]time.Time{}
	go func() {
		defer close(read)
		for confirm := range confirms {
			if confirm.Ack {
				k.mu.Lock()
				o := order{p, first + uint32(confirm.DeliveryTag)}
				k.confirmed[o] = true
				if q := o.queue(); began[o].After(k.stored[q]) {
					k.stored[q] = began[o]
				}
				k.mu.Unlock()
			} else {
				k.Errorf("publish %d of producer %d refused", confirm.DeliveryTag, p)
			}
			<-window
		}
	}()
	n := first
	for {
		select {
		case window <- struct{}{}:
		case <-read:
			k.next[p] = n
			return
		}
		o := order{p, n + 1}
		k.mu.Lock()
		began[o] = time.Now()
		k.mu.Unlock()
		err := o.publish(c)
		if n++; err != nil {
			<-read
			k.next[p] = n
			return
		}
	}
}

// consume receives and acknowledges, several messages at a time, until the connection ends.
func (k *books) consume(c *client, queue string) {
	if err := c.Qos(100, 0, false); err != nil {
		return // killed before consuming began
	}
	deliveries, err := c.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return
	}
	var pending []order
	last := map[uint32]uint32{}
	for d := range deliveries {
		pending = append(pending, k.received(&d, last, queue))
		if len(pending) < 20 && d.DeliveryTag%7 != 0 {
			continue
		}
		k.acknowledged(pending, ack{queue: queue})
		if d.Ack(true) != nil || c.Qos(100, 0, false) != nil { // the answer to qos shows that the ack before it was read
			return
		}
		k.acknowledged(pending, ack{queue: queue, read: time.Now()})
		pending = pending[:0]
	}
}

func (k *books) acknowledged(orders []order, a ack) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range orders {
		k.acked[o] = a
	}
}

// received checks one delivery: it is whole, in order, and was not stored as acknowledged.
func (k *books) received(d *amqp.Delivery, last map[uint32]uint32, queue string) order {
	o, whole := parseOrder(d.Body)
	if !whole || string(d.Body) != string(o.body()) {
		k.Errorf("a damaged message in %s: %x", queue, d.Body)
	}
	if before := last[o.producer]; o.number <= before && queue != "dead" && queue != "released" {
		k.Errorf("%s: %d of producer %d came behind %d", queue, o.number, o.producer, before)
	}
	last[o.producer] = o.number
	k.mu.Lock()
	defer k.mu.Unlock()
	if a, ok := k.acked[o]; ok {
		k.again++
		// A crash may create a dead letter or release a message again, because its removal may not have been stored.
		if a.kept && a.queue == o.queue() {
			k.Errorf("%v came again from %s, although a later message of %s was stored", o, queue, a.queue)
		}
	}
	return o
}

// drain receives the remaining messages.
func (k *books) drain(b *broker) {
	c := b.dial()
	last := map[string]map[uint32]uint32{}
	eventually(k.T, "timed and later to be empty", func() bool {
		q, err := c.QueueDeclarePassive("timed", true, false, false, false, nil)
		c.must(err)
		return q.Messages == 0 && strings.Contains(b.request("GET", "/api/exchanges/%2F/later", "", 200), `"messages_delayed":0`)
	})
	for _, q := range crashConsumed {
		last[q] = map[uint32]uint32{}
		for d := range c.taken(q) {
			o := k.received(d, last[q], q)
			if _, before := k.acked[o]; !before {
				k.acked[o] = ack{}
			}
		}
	}
}
