package consumers_test

import (
	"testing"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
)

// publisher is a connection that sends batches, charged to a gate.
type publisher struct {
	*testing.T
	gate    *message.Gate
	control consumers.FlowControl
}

// sends publishes a batch of a number of messages, which the queue takes and releases.
func (p *publisher) sends(messages int, delivered uint64, now int64) {
	chunk := p.gate.NewChunk(1 << 10)
	e := &mail.Enqueue{Chunk: chunk, Messages: make([]message.Message, messages)}
	p.control.Hold(e, delivered, now)
	e.Release()
}

// holds releases the due credit, and checks the number of batches still charged.
func (p *publisher) holds(want int, all bool, delivered uint64, now int64) {
	p.Helper()
	p.control.Release(all, delivered, now)
	p.control.ReleaseCredit()
	if used := p.gate.Used(); used != int64(want)<<10 {
		p.Errorf("after %d deliveries, at %d ms: %d bytes are charged, not %d batches", delivered, now, used, want)
	}
}

func TestControl(t *testing.T) {
	begin := func(t *testing.T) *publisher { return &publisher{T: t, gate: message.NewGate(1 << 30)} }
	t.Run("goes back as messages are taken, an eighth more than came", func(t *testing.T) {
		p := begin(t)
		p.sends(80, 1000, 0)
		p.sends(800, 1000, 0)
		p.holds(2, false, 1089, 1)
		p.holds(1, false, 1090, 1)
		p.holds(1, false, 1989, 1)
		p.holds(0, false, 1990, 1)
	})
	t.Run("goes back in time", func(t *testing.T) {
		p := begin(t)
		p.sends(100, 5, 0)
		p.sends(100, 5, 20)
		if at, ok := p.control.Next(); !ok || at != consumers.MaxFlowDelay {
			t.Error(at, ok)
		}
		p.holds(2, false, 6, consumers.MaxFlowDelay-1)
		p.holds(1, false, 6, consumers.MaxFlowDelay)
		p.holds(0, false, 6, consumers.MaxFlowDelay+20)
		if _, ok := p.control.Next(); ok {
			t.Error("something is due")
		}
	})
	t.Run("all of it when nobody waits", func(t *testing.T) {
		p := begin(t)
		p.sends(100, 5, 0)
		p.sends(100, 5, 0)
		p.holds(0, true, 6, 1)
	})
	t.Run("nothing is held of small batches", func(t *testing.T) {
		p := begin(t)
		p.sends(consumers.FlowFlood-1, 5, 0)
		p.holds(0, false, 5, 0)
		p.sends(consumers.FlowFlood, 5, 0)
		p.holds(1, false, 5, 0)
	})
	t.Run("nothing is held while nobody takes anything", func(t *testing.T) {
		p := begin(t)
		p.sends(100, 0, 0)
		p.holds(0, false, 0, 0)
		p.sends(100, 5, 0)
		p.holds(0, false, 5, consumers.MaxFlowDelay)
		p.sends(100, 5, 60)
		p.holds(0, false, 5, 60)
		p.sends(100, 6, 60)
		p.holds(1, false, 6, 60)
	})
}
