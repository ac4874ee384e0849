package broker

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit/trio"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/cluster"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

var historyRounds = flag.Int("history-rounds", 10, "how often TestHistory_CLU16 cuts the network of a cluster")

// office is a cluster whose leader runs a broker until it loses its office.
type office struct {
	*testing.T
	nodes *trio.Trio
	mu    sync.Mutex
	now   *supervision.Node
	conns map[net.Conn]*supervision.Node // with clients
	ended sync.WaitGroup
}

// begin starts the broker of the node that leads. The broker of the leader before goes on until its node knows that it has lost its office.
func (o *office) begin() {
	leader := o.nodes.Leader
	deposed := o.nodes.Deposed(leader)
	node, err := supervision.Start(supervision.Config{
		Users: auth.NewGuest(), Journal: o.nodes.Journal, Meta: o.nodes.Definitions, Log: zerolog.Nop(), Workers: 2,
		Limits: supervision.Limits{NoHeartbeat: true}, Clock: o.nodes.Node(leader).Clock(),
	})
	if err != nil {
		o.Error("start:", err)
		return
	}
	o.mu.Lock()
	o.now = node
	o.mu.Unlock()
	o.ended.Go(func() {
		<-deposed
		o.mu.Lock()
		if o.now == node {
			o.now = nil
		}
		for c, of := range o.conns {
			if of == node {
				_ = c.Close() // first, as the end of the process does
				delete(o.conns, c)
			}
		}
		o.mu.Unlock()
		ended, end := context.WithCancel(context.Background())
		end()
		_ = node.Stop(ended)
	})
}

// open connects with the broker that runs at present, sometimes with one that has lost its office and does not know.
func (o *office) open() (*amqp.Connection, *amqp.Channel) {
	o.mu.Lock()
	node := o.now
	if node == nil {
		o.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		return nil, nil
	}
	ours, theirs := net.Pipe()
	o.conns[ours] = node
	o.mu.Unlock()
	node.Connect(ours)
	conn, err := amqp.Open(theirs, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/"})
	if err != nil {
		_ = theirs.Close()
		return nil, nil
	}
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil
	}
	return conn, ch
}

// session calls use with one channel after the other until ctx ends.
func (o *office) session(ctx context.Context, use func(ch *amqp.Channel)) {
	for ctx.Err() == nil {
		if conn, ch := o.open(); conn != nil {
			use(ch)
			_ = conn.Close()
		}
	}
}

// storm cuts the leader off every 200 ms, for a while that is often too short for an election: both ways, or one.
func (o *office) storm(rounds int) (terms int) {
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		leader := o.nodes.Leader
		in, out := random.IntN(3) > 0, random.IntN(3) > 0
		for _, other := range trio.Names {
			if other != leader {
				o.nodes.Network.Cut(leader, other, out)
				o.nodes.Network.Cut(other, leader, in)
			}
		}
		cut := time.Duration(50+random.IntN(250)) * time.Millisecond
		if random.IntN(4) == 0 {
			cut = 3 * time.Second
		}
		if o.nodes.Elected(cut) {
			terms++
			o.begin()
		}
		o.nodes.Isolate(leader, false)
		if o.nodes.Elected(200 * time.Millisecond) {
			terms++
			o.begin()
		}
	}
	return terms
}

// TestHistory_CLU16: whatever a quorum queue of a cluster has told is so for its next leader: no message comes again without the flag, or out
// of order, and no count, no purge and no empty queue that was told of vanishes.
func TestHistory_CLU16(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{T: t, conns: map[net.Conn]*supervision.Node{}}
		o.nodes = trio.New(t, 800*time.Millisecond, func(c *cluster.Config) { c.Abandon = true })
		o.begin()
		ctx, end := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		p := &passage{seen: map[uint64]bool{}, confirmed: map[uint64]bool{}}
		for n := range uint64(2) {
			clients.Go(func() { p.publish(ctx, o, (n+1)<<32) })
		}
		drained, stop := context.WithCancel(t.Context())
		var receiver sync.WaitGroup
		receiver.Go(func() { p.receive(drained, o) })
		c := &tally{}
		clients.Go(func() { o.session(ctx, func(ch *amqp.Channel) { c.use(ctx, t, ch) }) })
		terms := o.storm(*historyRounds)
		o.nodes.Isolate(o.nodes.Leader, false)
		if o.nodes.Elected(5 * time.Second) {
			o.begin()
		}
		time.Sleep(5 * time.Second)
		end()
		clients.Wait()
		time.Sleep(10 * time.Second)
		stop()
		receiver.Wait()
		lost := 0
		for n := range p.confirmed {
			if !p.seen[n] {
				lost++
			}
		}
		t.Logf("%d terms, %d confirmed, %d received, %d times with the flag; %d counts, %d errors of clients", terms, len(p.confirmed), len(p.seen), p.flagged, c.told, p.errors+c.errors)
		if lost+p.unflagged+p.inversions+c.wrong > 0 || terms < *historyRounds/10 {
			t.Errorf("%d lost, %d again without the flag, %d out of order, %d counts wrong, %d terms", lost, p.unflagged, p.inversions, c.wrong, terms)
		}
		o.nodes.Close()
		o.ended.Wait()
		time.Sleep(time.Minute)
	})
}

// patient is how long a client waits for an answer.
const patient = 10 * time.Second

var quorum = amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int64(-1)}

// passage has the view of two producers and a receiver of a queue.
type passage struct {
	mu                             sync.Mutex
	confirmed, seen                map[uint64]bool
	last                           [3]uint64 // of each producer, received for the first time
	flagged, unflagged, inversions int
	errors                         int
}

func (p *passage) publish(ctx context.Context, o *office, n uint64) {
	o.session(ctx, func(ch *amqp.Channel) {
		if _, err := ch.QueueDeclare("passage", true, false, false, false, quorum); err != nil {
			return
		}
		for ctx.Err() == nil {
			n++
			if !confirmedPublish(ch, "passage", binary.BigEndian.AppendUint64(nil, n)) {
				p.mu.Lock()
				p.errors++
				p.mu.Unlock()
				return
			}
			p.mu.Lock()
			p.confirmed[n] = true
			p.mu.Unlock()
			time.Sleep(6 * time.Millisecond)
		}
	})
}

func confirmedPublish(ch *amqp.Channel, queue string, body []byte) bool {
	d, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{Body: body})
	if err != nil {
		return false
	}
	limit, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	ok, err := d.WaitContext(limit)
	return ok && err == nil
}

func (p *passage) receive(ctx context.Context, o *office) {
	o.session(ctx, func(ch *amqp.Channel) {
		if _, err := ch.QueueDeclare("passage", true, false, false, false, quorum); err != nil || ch.Qos(5, 0, false) != nil {
			return
		}
		in, err := ch.Consume("passage", "", false, false, false, false, nil)
		for err == nil {
			select {
			case d, ok := <-in:
				if !ok {
					return
				}
				p.took(d)
				time.Sleep(3100 * time.Microsecond) // slower than the producers
				_ = d.Ack(false)
			case <-ctx.Done():
				return
			}
		}
	})
}

func (p *passage) took(d amqp.Delivery) {
	n := binary.BigEndian.Uint64(d.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case d.Redelivered:
		p.flagged++
	case p.seen[n]:
		p.unflagged++
	case n < p.last[n>>32]:
		p.inversions++
	default:
		p.last[n>>32] = n
	}
	p.seen[n] = true
}

// tally is a queue with one client, which knows how many messages are in it: from low to high, as for some operations there was no
// answer.
type tally struct {
	low, high, told, wrong, errors int
}

func (c *tally) use(ctx context.Context, t *testing.T, ch *amqp.Channel) {
	if _, err := ch.QueueDeclare("counted", true, false, false, false, quorum); err != nil {
		c.errors++
		return
	}
	for n := 0; ctx.Err() == nil; n++ {
		if what, err := c.step(n, ch); err != nil {
			c.errors++
			return
		} else if what != "" {
			c.wrong++
			t.Error(what)
		}
		time.Sleep(3 * time.Millisecond)
	}
}

// step is one operation; the text says what was wrong.
func (c *tally) step(n int, ch *amqp.Channel) (wrong string, err error) {
	tell := func(what string, n int) {
		if c.told++; n < c.low || n > c.high {
			wrong = fmt.Sprintf("%s tells of %d messages, but there are %d to %d", what, n, c.low, c.high)
		}
		c.low, c.high = n, n
	}
	switch n % 10 {
	case 5, 6, 7: // a message is taken, or the queue is empty
		d, ok, err := ch.Get("counted", true)
		if err != nil {
			c.low = max(c.low-1, 0)
			return "", err
		}
		if !ok {
			tell("get-empty", 0)
			return wrong, nil
		}
		tell("get", int(d.MessageCount)+1)
		c.low, c.high = c.low-1, c.high-1
	case 8:
		q, err := ch.QueueDeclarePassive("counted", true, false, false, false, nil)
		if err != nil {
			return "", err
		}
		tell("declare-ok", q.Messages)
	case 9:
		if n%50 != 49 {
			return "", nil
		}
		purged, err := ch.QueuePurge("counted", false)
		if err != nil {
			c.low = 0
			return "", err
		}
		tell("purge-ok", purged)
		c.low, c.high = 0, 0
	default:
		c.high++
		if !confirmedPublish(ch, "counted", []byte("x")) {
			return "", amqp.ErrClosed
		}
		c.low++
	}
	return wrong, nil
}
