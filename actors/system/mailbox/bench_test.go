package mailbox_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"candlemark/actors/system/mailbox"

	"github.com/asynkron/protoactor-go/actor"
)

// setup is the library's or our mailbox and dispatcher. Each benchmark runs with both, and reports the CPU time of the whole
// process per operation besides the wall time.
type setup struct {
	name  string
	props func(d *mailbox.Dispatcher, receive actor.ReceiveFunc) *actor.Props
}

var setups = []setup{
	{"default", func(_ *mailbox.Dispatcher, receive actor.ReceiveFunc) *actor.Props {
		return actor.PropsFromFunc(receive)
	}},
	{"ours", func(d *mailbox.Dispatcher, receive actor.ReceiveFunc) *actor.Props {
		return actor.PropsFromFunc(receive, actor.WithDispatcher(d),
			actor.WithMailbox(func() actor.Mailbox { return mailbox.New(func(any) {}) }))
	}},
}

func cpu() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func bench(b *testing.B, run func(b *testing.B, system *actor.ActorSystem, props func(actor.ReceiveFunc) *actor.Props)) {
	for _, s := range setups {
		b.Run(s.name, func(b *testing.B) {
			d := mailbox.NewDispatcher(0)
			defer d.Stop()
			system := newSystem(b)
			b.ReportAllocs()
			b.ResetTimer()
			before := cpu()
			run(b, system, func(receive actor.ReceiveFunc) *actor.Props { return s.props(d, receive) })
			b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

type mail struct{ hops int }

// BenchmarkSend measures one producer that sends to one busy actor.
func BenchmarkSend(b *testing.B) {
	bench(b, func(b *testing.B, system *actor.ActorSystem, props func(actor.ReceiveFunc) *actor.Props) {
		done := make(chan struct{})
		seen := 0
		pid := system.Root.Spawn(props(func(c actor.Context) {
			if _, ok := c.Message().(*mail); ok {
				if seen++; seen == b.N {
					close(done)
				}
			}
		}))
		m := &mail{}
		for range b.N {
			system.Root.Send(pid, m)
		}
		<-done
	})
}

// BenchmarkPingPong passes a mail back and forth between two idle actors; one operation is a round trip.
func BenchmarkPingPong(b *testing.B) {
	bench(b, func(b *testing.B, system *actor.ActorSystem, props func(actor.ReceiveFunc) *actor.Props) {
		done := make(chan struct{})
		var ping, pong *actor.PID
		pong = system.Root.Spawn(props(func(c actor.Context) {
			if m, ok := c.Message().(*mail); ok {
				c.Send(ping, m)
			}
		}))
		ping = system.Root.Spawn(props(func(c actor.Context) {
			if m, ok := c.Message().(*mail); ok {
				if m.hops++; m.hops > b.N {
					close(done)
					return
				}
				c.Send(pong, m)
			}
		}))
		system.Root.Send(ping, &mail{})
		<-done
	})
}

// BenchmarkCall measures a goroutine (such as a socket's reader) that wakes an idle actor, which answers through a Go channel.
func BenchmarkCall(b *testing.B) {
	bench(b, func(b *testing.B, system *actor.ActorSystem, props func(actor.ReceiveFunc) *actor.Props) {
		reply := make(chan struct{}, 1)
		pid := system.Root.Spawn(props(func(c actor.Context) {
			if _, ok := c.Message().(*mail); ok {
				reply <- struct{}{}
			}
		}))
		m := &mail{}
		for range b.N {
			system.Root.Send(pid, m)
			<-reply
		}
	})
}

// BenchmarkPipeline sends batches through three actors that work on each for some µs, with 64 batches under way.
func BenchmarkPipeline(b *testing.B) {
	bench(b, func(b *testing.B, system *actor.ActorSystem, props func(actor.ReceiveFunc) *actor.Props) {
		window := make(chan struct{}, 64)
		stage := func(forward func(actor.Context, any)) *actor.PID {
			return system.Root.Spawn(props(func(c actor.Context) {
				if m, ok := c.Message().(*mail); ok {
					for start := time.Now(); time.Since(start) < 3*time.Microsecond; {
					}
					forward(c, m)
				}
			}))
		}
		last := stage(func(actor.Context, any) { <-window })
		middle := stage(func(c actor.Context, m any) { c.Send(last, m) })
		first := stage(func(c actor.Context, m any) { c.Send(middle, m) })
		for range b.N {
			window <- struct{}{}
			system.Root.Send(first, &mail{})
		}
		for range cap(window) {
			window <- struct{}{}
		}
	})
}

// BenchmarkGoroutine is the baseline for a hop: it starts a goroutine that answers through a Go channel.
func BenchmarkGoroutine(b *testing.B) {
	reply := make(chan struct{}, 1)
	before := cpu()
	for b.Loop() {
		go func() { reply <- struct{}{} }()
		<-reply
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
	runtime.KeepAlive(reply)
}
