package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
)

// flood publishes batches of a hundred messages, each batch charged with 1 KiB to the gate returned. The consumer has taken one
// message, and takes more when its prefetch is raised.
func flood(t *testing.T, batches int) (*core, *message.Gate) {
	c, gate := newCore(t), message.NewGate(1<<20)
	c.feed(&mail.Consume{Channel: ch1, Tag: "x", Prefetch: 1})
	c.feed(&mail.Enqueue{From: publisher, Messages: []message.Message{numbered(1, -1)}})
	for range batches {
		chunk := gate.NewChunk(1 << 10)
		e := &mail.Enqueue{From: publisher, Chunk: chunk}
		for range 100 {
			e.Messages = append(e.Messages, numbered(2, -1))
		}
		c.feed(e)
	}
	return c, gate
}

func charged(c *core, gate *message.Gate, want int64) {
	c.t.Helper()
	if gate.Used() != want<<10 {
		c.t.Errorf("%d bytes are charged, not %d KiB", gate.Used(), want)
	}
}

// TestFlow: credit held back from a fast publisher is released after MaxDelay, or when the queue has no reason to hold it.
func TestFlow(t *testing.T) {
	for name, then := range map[string]func(c *core){
		"in time":                func(c *core) { c.at(MaxFlowDelay) },
		"when nothing is ready":  func(c *core) { c.feed(&mail.Purge{}) },
		"when no consumer waits": func(c *core) { c.feed(&mail.ChannelGone{Channel: ch1}) },
		"when the queue ends":    func(c *core) { c.feed(&mail.DeleteQueue{}) },
	} {
		t.Run(name, func(t *testing.T) {
			c, gate := flood(t, 3)
			charged(c, gate, 3)
			c.at(MaxFlowDelay - 1)
			charged(c, gate, 3)
			then(c)
			charged(c, gate, 0)
		})
	}
}

// TestFlow_Deliveries: credit is released as messages are delivered.
func TestFlow_Deliveries(t *testing.T) {
	c, gate := flood(t, 3)
	for n := uint64(1); n <= 3; n++ {
		c.feed(&mail.SetPrefetch{Channel: ch1, Prefetch: int(1 + 112*n)})
		c.feed(again{}) // deliveries count once they are sent
		charged(c, gate, int64(3-n))
	}
}
