package channel

import (
	"slices"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

const benchBatch = 256

// BenchmarkPublish measures the channel's part of a publish with a confirm.
func BenchmarkPublish(b *testing.B) {
	r := newRig(b)
	r.confirms.Start()
	one := publish("x", "one", "0123456789", protocol.Properties{Flags: protocol.FlagDeliveryMode, DeliveryMode: 2})
	stream := slices.Repeat(one, benchBatch)
	b.ReportAllocs()
	for n := 0; n < b.N; n += benchBatch {
		chunk := r.cfg.Gate.NewChunk(len(stream))
		r.step(&mail.Inbound{Runs: [][]byte{chunk.Buf[:copy(chunk.Buf, stream)]}, Chunk: chunk})
		r.step(&mail.EnqueueReply{Queue: r.cfg.VHost.Directory().Queue([]byte("q1")).PID, Ranges: r.answers})
	}
	if r.in.Phase != input.Open {
		b.Fatal("closed")
	}
}

// BenchmarkDeliverAck measures the channel's part of a delivery and its acknowledgement.
func BenchmarkDeliverAck(b *testing.B) {
	r := newRig(b)
	r.consumes("a", "q1")
	content := message.Message{
		Exchange: []byte("x"), RoutingKey: []byte("k"), Header: []byte{0, 0}, Body: []byte("0123456789"), Owned: true,
	}
	queue, number := pid("q1"), uint64(0)
	b.ReportAllocs()
	for n := 0; n < b.N; n += benchBatch {
		d := mail.NewDeliver(queue, "a", false)
		chunk := r.cfg.Gate.NewChunk(benchBatch * ackFrame)
		acks := chunk.Buf[:0]
		for range benchBatch {
			number++
			d.Items = append(d.Items, mail.Delivery{Message: content, Number: number})
			acks = protocol.AppendAckFrame(acks, 1, number, false)
		}
		r.step(d)
		r.step(&mail.Inbound{Runs: [][]byte{acks}, Chunk: chunk})
	}
	if r.in.Phase != input.Open {
		b.Fatal("closed")
	}
}
