package channel

import (
	"slices"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// perMessage returns the number of allocations per additional message of a turn. The fixed cost of a turn, such as its mail, is
// not counted.
func perMessage(t *testing.T, turn func(n int)) float64 {
	t.Helper()
	const few, many = 10, 1010
	cost := func(n int) float64 {
		turn(n) // buffers grow once
		return testing.AllocsPerRun(20, func() { turn(n) })
	}
	return (cost(many) - cost(few)) / (many - few)
}

// step processes a mail and plays the queues and the writer.
func (r *rig) step(received any) {
	r.Handle(received)
	r.sendConfirms()
	for i, p := range r.mail.Out {
		switch m := p.Mail.(type) {
		case *mail.Enqueue:
			if r.confirms.On() {
				r.answers = append(r.answers[:0], mail.Range{First: m.Messages[0].Number, Last: m.Messages[len(m.Messages)-1].Number})
			}
			m.Release()
		}
		r.mail.Out[i] = mail.Post{}
	}
	r.mail.Out = r.mail.Out[:0]
	r.watches()
	for b := r.cfg.Outbox.Take(); b != nil; b = r.cfg.Outbox.Take() {
		continue
	}
}

func TestAllocations_PublishToEnqueue(t *testing.T) {
	props := protocol.Properties{
		Flags: protocol.FlagDeliveryMode | protocol.FlagPriority | protocol.FlagExpiration | protocol.FlagUserID, DeliveryMode: 2, Priority: 4,
		Expiration: "60000", UserID: "guest",
	}
	one := publish("x", "one", "0123456789", props)
	for name, c := range map[string]struct {
		messages [][]byte
		confirms bool
	}{
		"one queue":        {[][]byte{one}, false},
		"with confirms":    {[][]byte{one}, true},
		"alternating keys": {[][]byte{one, publish("x", "both", "0123456789")}, false},
		"with headers":     {[][]byte{publish("x", "one", "0123456789", withHeaders("n", int64(1), "text", "abc"))}, false},
		"unroutable":       {[][]byte{publish("void", "", "0123456789")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if c.confirms {
				r.confirms.Start()
			}
			var stream []byte
			for i := range 1010 {
				stream = append(stream, c.messages[i%len(c.messages)]...)
			}
			size := func(n int) (size int) {
				for i := range n {
					size += len(c.messages[i%len(c.messages)])
				}
				return size
			}
			got := perMessage(t, func(n int) {
				chunk := r.cfg.Gate.NewChunk(size(n))
				run := chunk.Buf[:copy(chunk.Buf, stream[:size(n)])]
				r.step(&mail.Inbound{Runs: [][]byte{run}, Chunk: chunk})
				if c.confirms && len(r.answers) > 0 {
					r.step(&mail.EnqueueReply{Queue: r.cfg.VHost.Directory().Queue([]byte("q1")).PID, Ranges: r.answers})
				}
			})
			if got > 0.1 || r.in.Phase != input.Open || c.confirms && r.confirms.Unconfirmed() != 0 {
				t.Errorf("%.2f allocations a message, phase %d, %d of %d unconfirmed", got, r.in.Phase, r.confirms.Unconfirmed(), r.confirms.Last())
			}
		})
	}
}

func TestAllocations_DeliverAndAck(t *testing.T) {
	for name, noAck := range map[string]bool{"with acks": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.consumes("a", "q1")
			content := message.Message{
				Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: []byte("0123456789"), Owned: true,
			}
			queue, number := pid("q1"), uint64(0)
			got := perMessage(t, func(n int) {
				d := mail.NewDeliver(queue, "a", noAck)
				for range n {
					item := mail.Delivery{Message: content}
					if !noAck {
						number++
						item.Number = number
					}
					d.Items = append(d.Items, item)
				}
				r.step(d)
				if noAck {
					return
				}
				// Half of them are acked one by one, the rest by one ack with multiple set.
				chunk := r.cfg.Gate.NewChunk(n*ackFrame + ackFrame)
				acks := chunk.Buf[:0]
				for i := range uint64(n / 2) {
					acks = protocol.AppendAckFrame(acks, 1, number-uint64(n)+1+i, false)
				}
				acks = protocol.AppendAckFrame(acks, 1, number, true)
				r.step(&mail.Inbound{Runs: [][]byte{slices.Clip(acks)}, Chunk: chunk})
			})
			if got > 0.1 || r.in.Phase != input.Open || r.queues.Unacked.Len() != 0 {
				t.Errorf("%.2f allocations a message, phase %d, %d unacknowledged", got, r.in.Phase, r.queues.Unacked.Len())
			}
		})
	}
}

// ackFrame is the size of a basic.ack frame in bytes.
const ackFrame = 21

// A content that arrives in one read and one frame is not copied on its way to the queue.
func TestPublish_OneFrameIsNotCopied(t *testing.T) {
	r := newRig(t)
	r.feed(publish("", "q1", "content"))
	m := r.posts[0].Mail.(*mail.Enqueue)
	in := r.reads[0].bytes
	if body := m.Messages[0].Body; &body[0] != &in[len(in)-1-len(body)] {
		t.Error("the body is elsewhere")
	}
	r.sent("q1: enqueue content")
	r.balanced()
}
