package load

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"candlemark/cmd/candlemark-bench/bench/verify"
	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol"
)

// Consuming has the settings of consumers.
type Consuming struct {
	AutoAck  bool
	Prefetch int // messages; 0 for no limit
	AckEvery int // messages acknowledged at once
	// AckIdle acknowledges besides whenever everything that has arrived is read.
	AckIdle   bool
	Rate      float64 // messages a second of each; 0 for as fast as they come
	Latency   Plan    // µs that each works on a message before it acknowledges it
	Limit     int64   // messages of each connection; 0 for any number
	Arguments protocol.Table
}

// Received is a message that came.
type Received struct {
	verify.ID
	Sent, Due, At int64         // wire.Now when it was sent, when it should have been, and when it came
	TTL           time.Duration // that it had
}

// Sink gets what a channel consumes, in its order.
type Sink interface {
	Take(arrivals []Received)
	// TakeForeign gets the number of messages of other runs.
	TakeForeign(n int64)
}

// gathered is how many arrivals are handed over at once.
const gathered = 256

// Consumer is a connection that consumes on some channels.
type Consumer struct {
	run     *Run
	how     *Consuming
	conn    client
	taps    []*channelReader
	every   int // messages acknowledged at once
	got     int64
	work    func() // called for each message; nil for none
	stopped atomic.Bool
}

// channelReader is a channel that consumes.
type channelReader struct {
	sink     Sink
	arrivals []Received
	foreign  int64
	unacked  int
	tag      uint64
}

// NewConsumer connects and subscribes to these queues, each on a channel of its own whose messages go to the sink of that number.
func NewConsumer(run *Run, how *Consuming, queues []string, sinks []Sink) (*Consumer, error) {
	cfg := run.Wire
	cfg.ReadBuffer = 256 << 10
	conn, err := run.dial(cfg)
	if err != nil {
		return nil, err
	}
	c := &Consumer{run: run, how: how, conn: conn, every: max(how.AckEvery, 1)}
	if how.Prefetch > 0 {
		c.every = min(c.every, how.Prefetch)
	}
	for i, queue := range queues {
		c.taps = append(c.taps, &channelReader{sink: sinks[i], arrivals: make([]Received, 0, gathered)})
		// A queue delivers while the next is subscribed to.
		if err := conn.Subscribe(uint16(i+1), queue, how.subscription(), c.passed); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return c, nil
}

func (c *Consumer) passed(ev *wire.Event) {
	if ev.Kind == wire.Deliver {
		c.taps[ev.Channel-1].add(ev, c.run.ID, c.conn.Stamp())
		c.got++
	}
}

func (how *Consuming) subscription() wire.Subscription {
	return wire.Subscription{AutoAck: how.AutoAck, Prefetch: how.Prefetch, Arguments: how.Arguments}
}

// Run reads until Stop, or until the limit is reached.
func (c *Consumer) Run() error {
	wait := func() {}
	if c.how.Rate > 0 || !c.how.Latency.IsZero() {
		pace, start := newPacer(), wire.Now()
		defer pace.release()
		if c.how.Rate > 0 {
			wait = func() {
				c.flush()
				pace.sleep(time.Duration(start + int64(float64(c.got)*1e9/c.how.Rate) - wire.Now()))
			}
		}
		if !c.how.Latency.IsZero() {
			c.work = func() {
				c.flush()
				pace.sleep(time.Duration(c.how.Latency.At(time.Duration(wire.Now()-start)) * float64(time.Microsecond)))
			}
		}
	}
	var ev wire.Event
	err := c.acknowledge()
	for err == nil && (c.how.Limit == 0 || c.got < c.how.Limit) {
		if err = c.conn.Next(&ev); err != nil {
			if c.stopped.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil
				break
			}
			continue
		}
		if ev.Kind != wire.Deliver {
			err = c.conn.Closed(&ev)
			continue
		}
		err = c.deliver(&ev)
		wait()
	}
	if err != nil {
		c.flush()
		return errors.Join(fmt.Errorf("consumer: %w", err), c.conn.Close())
	}
	return c.leave()
}

// deliver handles a message: calls work, and acknowledges complete batches and, with AckIdle, when no input is buffered.
func (c *Consumer) deliver(ev *wire.Event) error {
	t := c.taps[ev.Channel-1]
	t.add(ev, c.run.ID, c.conn.Stamp())
	c.got++
	if c.work != nil {
		c.work()
	}
	idle := !c.conn.Buffered()
	if idle || len(t.arrivals) == gathered {
		c.flush()
	}
	switch {
	case c.how.AckIdle && idle:
		return c.acknowledge()
	case t.unacked >= c.every:
		return c.settle(ev.Channel, t)
	}
	return nil
}

// acknowledge is for everything that came.
func (c *Consumer) acknowledge() error {
	for i, t := range c.taps {
		if err := c.settle(uint16(i+1), t); err != nil {
			return err
		}
	}
	return nil
}

// add notes a delivery.
func (t *channelReader) add(ev *wire.Event, run uint32, now int64) {
	t.tag = ev.Tag
	t.unacked++
	var h head
	if !h.read(ev.Body, run) {
		t.foreign++
		return
	}
	t.arrivals = append(t.arrivals, Received{
		ID: verify.ID{Producer: h.producer, Redelivered: ev.Flag, Seq: h.seq}, Sent: h.sent, Due: h.due, At: now, TTL: time.Duration(h.ttl),
	})
}

// settle acknowledges everything that came on a channel.
func (c *Consumer) settle(ch uint16, t *channelReader) error {
	if c.how.AutoAck || t.unacked == 0 {
		t.unacked = 0
		return nil
	}
	t.unacked = 0
	return c.conn.Acknowledge(ch, t.tag)
}

// flush publishes the counts of all channels, so that they are soon visible to others.
func (c *Consumer) flush() {
	for _, t := range c.taps {
		if n := int64(len(t.arrivals)); n > 0 {
			t.sink.Take(t.arrivals)
			t.arrivals = t.arrivals[:0]
			c.run.Got.Add(n)
		}
		if t.foreign > 0 {
			t.sink.TakeForeign(t.foreign)
			t.foreign = 0
		}
	}
}

// leave acknowledges the rest and disconnects.
func (c *Consumer) leave() error {
	c.flush()
	_ = c.conn.SetDeadline(time.Now().Add(10 * time.Second))
	if err := c.acknowledge(); err != nil {
		return errors.Join(err, c.conn.Close())
	}
	return c.conn.Leave()
}

// Stop makes Run acknowledge the rest and return.
func (c *Consumer) Stop() {
	c.stopped.Store(true)
	_ = c.conn.SetReadDeadline(time.Now()) // a closed connection needs no deadline
}
