//go:build unix

package forward_test

import (
	"io"
	"net"
	"syscall"
	"testing"

	"candlemark/internal/transport/forward"
)

// BenchmarkPass is a question of 100 B and its answer: through a follower, and between client and server alone. It reports the CPU time of all three.
func BenchmarkPass(b *testing.B) {
	ask := func(b *testing.B, client net.Conn) {
		b.Helper()
		question := make([]byte, 100)
		var before, after syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
		for b.Loop() {
			if _, err := client.Write(question); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(client, question); err != nil {
				b.Fatal(err)
			}
		}
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
		used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
		b.ReportMetric(float64(used)/float64(b.N), "cpu-ns/op")
	}
	echo := func(server net.Conn) {
		answer := make([]byte, 100)
		for {
			if _, err := io.ReadFull(server, answer); err != nil {
				return
			}
			if _, err := server.Write(answer); err != nil {
				return
			}
		}
	}
	b.Run("through a follower", func(b *testing.B) {
		p := newPair(b, nil)
		p.follower.Follow(first)
		client := p.dial()
		go echo(p.accept())
		ask(b, client)
	})
	b.Run("directly", func(b *testing.B) {
		p := newPair(b, nil)
		client, err := net.Dial("tcp", p.leader.Addresses(forward.AMQP)[0].String())
		if err != nil {
			b.Fatal(err)
		}
		defer client.Close()
		go echo(p.accept())
		ask(b, client)
	})
}
