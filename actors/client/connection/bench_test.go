package connection_test

import (
	"fmt"
	"io"
	"testing"

	"candlemark/actors/client/connection"

	"candlemark/protocol"
	"github.com/asynkron/protoactor-go/actor"
)

// BenchmarkInbound measures the path from the socket to a channel, per message.
func BenchmarkInbound(b *testing.B) {
	for _, size := range []int{16, 1024, 16384} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			acks := make(chan int, 1<<16)
			conn := tcp(b, func(s connection.ChannelSpec) actor.Actor { return &sink{spec: s, acks: acks} }, asItIs)
			dial(b, conn)
			one := contentFrames(1, size)
			var many []byte
			batch := max(1, 65536/len(one))
			for range batch {
				many = append(many, one...)
			}
			b.SetBytes(int64(len(one)))
			b.ReportAllocs()
			b.ResetTimer()
			go func() {
				for left := b.N; left > 0; left -= batch {
					n := min(left, batch)
					if _, err := conn.Write(many[:n*len(one)]); err != nil {
						panic(err)
					}
				}
			}()
			for got := 0; got < b.N; {
				got += <-acks
			}
		})
	}
}

// BenchmarkPing measures a round trip of small frames, with writes by the appender and by a writer.
func BenchmarkPing(b *testing.B) {
	for name, wrap := range map[string]wrapper{"direct": asItIs, "writer": hidden} {
		b.Run(name, func(b *testing.B) {
			conn := tcp(b, func(s connection.ChannelSpec) actor.Actor { return &sink{spec: s} }, wrap)
			dial(b, conn)
			ping := methodFrames(1, &protocol.BasicGetEmpty{})
			pong := make([]byte, len(ping))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(ping); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(conn, pong); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOutbound measures the path from a channel to the socket, per frame of 100 bytes.
func BenchmarkOutbound(b *testing.B) {
	for name, wrap := range map[string]wrapper{"direct": asItIs, "writer": hidden} {
		b.Run(name, func(b *testing.B) {
			channel := make(chan *actor.PID, 1)
			var system *actor.ActorSystem
			conn := tcp(b, func(s connection.ChannelSpec) actor.Actor {
				return &starter{sink: sink{spec: s}, channel: channel, system: &system}
			}, wrap)
			dial(b, conn)
			pid := <-channel
			b.SetBytes(108)
			b.ReportAllocs()
			b.ResetTimer()
			system.Root.Send(pid, &flood{n: b.N})
			if _, err := io.CopyN(io.Discard, conn, int64(b.N)*108); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// starter is a sink that passes its PID and actor system to the test.
type starter struct {
	sink
	channel chan<- *actor.PID
	system  **actor.ActorSystem
}

func (s *starter) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Started); ok {
		*s.system = ctx.ActorSystem()
		s.channel <- ctx.Self()
	}
	s.sink.Receive(ctx)
}
