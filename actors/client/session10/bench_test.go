package session10

import (
	"bytes"
	"encoding/binary"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

// BenchmarkTransfer handles reads of 100 settled messages of 100 bytes each for one queue.
func BenchmarkTransfer(b *testing.B) {
	s, l := crowded(1)
	l.publisher.Window, l.publisher.Credit, l.publisher.MaxMessageSize = 1<<30, 1<<30, 1<<20
	s.links[0] = l
	body := bytes.Repeat([]byte("x"), 100)
	payload := append(amqp10.AppendDataHead(nil, len(body)), body...)
	var read []byte
	for i := range uint32(100) {
		start := len(read)
		read = hotpath.AppendTransfer(read, 0, &amqp10.Transfer{DeliveryID: amqp10.Some(i), DeliveryTag: []byte("tag"), Settled: true})
		read = append(read, payload...)
		binary.BigEndian.PutUint32(read[start:], uint32(len(read)-start))
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += 100 {
		s.Handle(&mail.Inbound{Runs: [][]byte{read}, Chunk: s.cfg.Gate.NewChunk(len(read))})
		for i, p := range s.Out {
			if e, ok := p.Mail.(*mail.Enqueue); ok {
				e.Release()
			}
			s.Out[i] = mail.Post{}
		}
		s.Out = s.Out[:0]
		s.cfg.Outbox.Take()
		l.publisher.Credit = 1 << 30
	}
}
