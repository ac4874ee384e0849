package channel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"
)

// chaos is a channel under random traffic from all sides.
type chaos struct {
	*rig
	rand    *rand.Rand
	stream  [][]byte          // frames that the client will send next
	number  map[string]uint64 // of the last delivery, by queue
	settled map[string]bool   // by queue and delivery number
	open    []*mail.Enqueue   // batches without an answer
	tag     uint64            // of the last delivery on the wire
	written int
}

// With random traffic, every chunk and every charge is released exactly once, released memory is not read, tags on the wire grow
// by one, a delivery is settled once, and commands never hang.
func TestChaos(t *testing.T) {
	for range 40 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := &chaos{
				rig:  newRig(t, func(c *Config) { c.Outbox = outbox.New(600, nil) }),
				rand: rand.New(rand.NewPCG(seed, 3)), number: map[string]uint64{}, settled: map[string]bool{},
			}
			c.run()
		})
	}
}

func (c *chaos) run() {
	c.stream = [][]byte{frame(&protocol.ConfirmSelect{})}
	for range 1500 {
		c.act()
		c.look()
	}
	if c.rand.IntN(2) == 0 {
		c.feed(append(c.stream, frame(&protocol.ChannelClose{}))...)
	} else {
		c.turn(&mail.CloseChannel{})
	}
	for range 10000 {
		if c.in.Phase == input.Ended {
			break
		}
		c.read()
		c.room()
		c.answer()
	}
	c.look()
	if c.in.Phase != input.Ended {
		c.t.Fatalf("hangs: await %v, %d parked, %d held", c.in, c.in.Parked(), c.output.Len())
	}
	for _, e := range c.open {
		e.Release()
	}
	c.balanced()
	if c.written == 0 {
		c.t.Error("nothing was delivered")
	}
}

func (c *chaos) act() {
	switch c.rand.IntN(12) {
	case 0, 1, 2:
		c.speak()
	case 3, 4:
		c.answer()
	case 5, 6:
		c.deliver()
	case 7:
		c.room()
	case 8:
		c.read()
	case 9, 10:
		c.confirm()
	case 11:
		if q := c.queueName(); c.rand.IntN(20) == 0 {
			for tag, x := range c.consumers {
				if x.Queue.Address.GetId() == q {
					c.turn(&mail.ConsumerCancelled{Queue: pid(q), Tag: tag})
				}
			}
		}
	}
}

func (c *chaos) queueName() string { return fmt.Sprintf("q%d", 1+c.rand.IntN(3)) }

// speak feeds one read from the socket, which may end within a content.
func (c *chaos) speak() {
	for len(c.stream) < 20 {
		c.stream = append(c.stream, c.command()...)
	}
	n := 1 + c.rand.IntN(20)
	c.feed(c.stream[:n]...)
	c.stream = c.stream[n:]
}

func (c *chaos) command() [][]byte {
	one := func(m protocol.Method) [][]byte { return [][]byte{frame(m)} }
	queue := c.queueName()
	switch noWait := c.rand.IntN(2) == 0; c.rand.IntN(20) {
	case 0:
		return one(&protocol.BasicConsume{Queue: queue, ConsumerTag: fmt.Sprint(c.rand.Uint64()), NoWait: noWait})
	case 1:
		for tag := range c.consumers {
			return one(&protocol.BasicCancel{ConsumerTag: tag, NoWait: noWait})
		}
	case 2:
		return one(&protocol.BasicGet{Queue: queue, NoAck: noWait})
	case 3:
		return one(&protocol.QueueDeclare{Queue: queue, NoWait: noWait})
	case 4:
		return one(&protocol.BasicNack{Multiple: true, Requeue: noWait})
	case 5:
		return one(&protocol.BasicRecover{Requeue: true})
	case 6:
		return one(&protocol.BasicQos{PrefetchCount: uint16(c.rand.IntN(5)), Global: noWait})
	case 7:
		return one(&protocol.QueuePurge{Queue: queue, NoWait: noWait})
	case 8, 9:
		return one(&protocol.BasicAck{Multiple: true})
	}
	return c.publish(queue)
}

// publish returns the frames of one content, with any number of body frames.
func (c *chaos) publish(key string) (frames [][]byte) {
	m := &protocol.BasicPublish{RoutingKey: key, Mandatory: c.rand.IntN(3) == 0}
	switch c.rand.IntN(6) {
	case 0:
		m.Exchange, m.RoutingKey = "x", "both"
	case 1:
		m.Exchange = "void"
	}
	body := strings.Repeat("p", c.rand.IntN(1200)*c.rand.IntN(2))
	frames = append(frames, frame(m), protocol.AppendHeaderFrame(nil, 1, uint64(len(body)), []byte{0, 0}))
	for len(body) > 0 {
		n := 1 + c.rand.IntN(len(body))
		frames = append(frames, protocol.AppendBodyFrames(nil, 1, []byte(body[:n]), 0))
		body = body[n:]
	}
	return frames
}

// answer answers the oldest command; a basic.get may be answered with a message.
func (c *chaos) answer() {
	if len(c.asked) == 0 {
		return
	}
	if g, is := c.asked[0].(*mail.Get); is && c.rand.IntN(2) == 0 {
		c.asked = c.asked[1:]
		d := mail.Delivery{Message: message.Message{Header: []byte{0, 0}, Body: []byte("got"), Owned: true}}
		if !g.NoAck {
			c.number[g.Queue]++
			d.Number = c.number[g.Queue]
		}
		c.turn(&mail.GetReply{Reply: g.Done(nil), Queue: pid(g.Queue), Delivery: d})
		return
	}
	c.succeed()
}

// deliver delivers messages to a consumer whose bodies are still in a publisher's read chunk.
func (c *chaos) deliver() {
	for tag, x := range c.consumers {
		q := x.Queue.Address.GetId()
		n := 1 + c.rand.IntN(5)
		m := c.inbound([]byte(strings.Repeat("d", 30*n)))
		d := mail.NewDeliver(x.Queue.Address, tag, false)
		d.Chunk = m.Chunk
		for i := range n {
			c.number[q]++
			d.Items = append(d.Items, mail.Delivery{Number: c.number[q], Message: message.Message{
				Header: []byte{0, 0}, Body: m.Runs[0][30*i : 30*i+30],
			}})
		}
		c.turn(d)
		return
	}
}

// room runs the writer's callback if the channel waits for it.
func (c *chaos) room() {
	later := c.later
	c.later = nil
	for _, m := range later {
		c.turn(m)
	}
}

// read plays a client that reads everything in the outbox.
func (c *chaos) read() {
	for _, shown := range c.frames() {
		var tag uint64
		at := strings.Index(shown, "DeliveryTag:")
		if strings.HasPrefix(shown, "basic.deliver") || strings.HasPrefix(shown, "basic.get-ok") {
			if _, err := fmt.Sscanf(shown[at:], "DeliveryTag:%d", &tag); err != nil || tag != c.tag+1 {
				c.t.Fatalf("%s after %d", shown, c.tag)
			}
			c.tag = tag
			c.written++
		}
		if strings.Contains(shown, "!") {
			c.t.Fatalf("memory of somebody else: %s", shown)
		}
		if strings.Contains(shown, ".close") {
			c.t.Fatal(shown)
		}
	}
}

// confirm has a queue answer the oldest batch.
func (c *chaos) confirm() {
	if len(c.open) == 0 {
		return
	}
	e := c.open[0]
	c.open = c.open[1:]
	reply := &mail.EnqueueReply{Queue: e.Queue, Refused: c.rand.IntN(5) == 0}
	for i := range e.Messages {
		if strings.Trim(string(e.Messages[i].Body), "p") != "" {
			c.t.Fatalf("memory of somebody else: %q", e.Messages[i].Body)
		}
		reply.Add(e.Messages[i].Number)
	}
	e.Release()
	c.turn(reply)
}

// look checks the mail that the channel sent.
func (c *chaos) look() {
	for _, p := range c.posts {
		switch m := p.Mail.(type) {
		case *mail.Enqueue:
			c.open = append(c.open, m)
		case *mail.Settle:
			for _, r := range m.Ranges {
				for n := r.First; n <= r.Last; n++ {
					key := fmt.Sprint(p.To.GetId(), n)
					if c.settled[key] || n > c.number[p.To.GetId()] {
						c.t.Fatalf("%s settled wrongly", key)
					}
					c.settled[key] = true
				}
			}
		case *mail.CloseConnection:
			c.t.Fatal(m.Err)
		}
	}
	c.posts = slices.Delete(c.posts, 0, len(c.posts))
}
