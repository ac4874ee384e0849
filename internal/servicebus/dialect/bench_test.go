package dialect_test

import (
	"testing"

	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol/amqp10"
)

// benchmarked are messages as clients send them: one with only a header, and one with the usual properties.
func benchmarked(b *testing.B) map[string][]byte {
	b.Helper()
	header := amqp10.AppendComposite(nil, &amqp10.Header{Priority: amqp10.Some(uint8(4))})
	application, err := amqp10.Append(amqp10.AppendDescriptor(nil, amqp10.SectionApplicationProperties), amqp10.Map{{Key: "kind", Value: "order"}, {Key: "n", Value: int64(7)}})
	if err != nil {
		b.Fatal(err)
	}
	properties := amqp10.AppendComposite(nil, &amqp10.Properties{
		MessageID: amqp10.AppendString(nil, "0123456789abcdef"), ContentType: amqp10.SymbolText("text/plain"), Subject: amqp10.Text("s"),
	})
	data := append(amqp10.AppendDataHead(nil, 100), make([]byte, 100)...)
	plain := append(header[:len(header):len(header)], data...)
	return map[string][]byte{"plain": plain, "properties": append(append(append(header[:len(header):len(header)], properties...), application...), data...)}
}

// BenchmarkRead translates messages from clients, BenchmarkAppend messages to clients.
func BenchmarkRead(b *testing.B) {
	for name, sent := range benchmarked(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := dialect.Read(sent, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, sent := range benchmarked(b) {
		b.Run(name, func(b *testing.B) {
			c, err := dialect.Read(sent, false)
			if err != nil {
				b.Fatal(err)
			}
			m := &message.Message{RoutingKey: []byte("q"), Header: c.Header, Body: c.Body}
			b.ReportAllocs()
			var head []byte
			for b.Loop() {
				if head, _, err = dialect.Append(head[:0], m, dialect.Outgoing{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
