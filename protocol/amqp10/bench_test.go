package amqp10

import "testing"

// BenchmarkHot decodes and appends the performatives of one message.
func BenchmarkHot(b *testing.B) {
	transfer := &Transfer{DeliveryID: Some(uint32(70_000)), DeliveryTag: []byte("0123"), MessageFormat: Some(uint32(0))}
	disposition := &Disposition{Role: RoleReceiver, First: 70_000, Settled: true, State: State{Kind: Accepted}}
	for name, p := range map[string]Composite{"transfer": transfer, "disposition": disposition} {
		encoded := AppendComposite(nil, p)
		b.Run("decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				switch p.(type) {
				case *Transfer:
					var t Transfer
					_, err = DecodeInto(encoded, &t)
				case *Disposition:
					var d Disposition
					_, err = DecodeInto(encoded, &d)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("append/"+name, func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				out = AppendFrame(out[:0], 1, p)
			}
		})
	}
}
