package connection_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/actors/system/mailbox"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/outbox"
	"candlemark/internal/transport/socket"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// tcp returns the client's end of a connection over a real socket, with the broker's own dispatcher.
func tcp(t testing.TB, channel func(connection.ChannelSpec) actor.Actor, wrap wrapper, changes ...func(*connection.Config)) net.Conn {
	system := actor.NewActorSystemWithConfig(actor.Configure(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
	dispatcher := mailbox.NewDispatcher(0)
	hot := func(producer actor.Producer, more ...actor.PropsOption) *actor.Props {
		return actor.PropsFromProducer(producer, append(more, actor.WithDispatcher(dispatcher),
			actor.WithMailbox(func() actor.Mailbox { return mailbox.New(func(any) {}) }))...)
	}
	ended := make(chan struct{})
	signalEnd := actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(ctx actor.ReceiverContext, m *actor.MessageEnvelope) {
			next(ctx, m)
			if _, ok := m.Message.(*actor.Stopped); ok {
				close(ended)
			}
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	vhost := topology.NewVHost("/")
	cfg := connection.Config{
		Settings: lifecycle.Settings{
			Conn: wrap(conn), Clock: clock.New(), Authenticator: auth.NewGuest(), Permissions: auth.NewGuest(),
			VHost: func(string) (*topology.VHost, bool) { return vhost, true },
		},
		NewChannel: func(s connection.ChannelSpec) *actor.Props {
			return hot(func() actor.Actor { return channel(s) })
		},
	}
	for _, change := range changes {
		change(&cfg)
	}
	system.Root.Spawn(hot(func() actor.Actor { return connection.New(cfg) }, signalEnd))
	t.Cleanup(func() {
		client.Close()
		<-ended
		dispatcher.Stop()
		system.Shutdown()
	})
	return client
}

type wrapper = func(net.Conn) net.Conn

func asItIs(c net.Conn) net.Conn { return c }

// plain hides the file descriptor of a socket.
type plain struct{ net.Conn }

func hidden(c net.Conn) net.Conn { return plain{c} }

// overTCP runs a test with each way of reading a socket.
func overTCP(t *testing.T, test func(t *testing.T, wrap wrapper)) {
	t.Run("goroutine", func(t *testing.T) { test(t, asItIs) })
	t.Run("without descriptor", func(t *testing.T) { test(t, hidden) })
	t.Run("loop", func(t *testing.T) {
		loops := socket.NewLoops(func(post func()) { post() })
		t.Cleanup(loops.Close)
		test(t, loops.Take)
	})
}

// dial performs the handshake and opens channel 1.
func dial(t testing.TB, conn net.Conn) {
	b := append([]byte{}, protocol.ProtocolHeader[:]...)
	b = append(b, methodFrames(0, &protocol.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00guest\x00guest")},
		&protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, &protocol.ConnectionOpen{VirtualHost: "/"})...)
	b = append(b, methodFrames(1, &protocol.ChannelOpen{})...)
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	for {
		if m := readMethod(t, conn); m.Key().String() == "channel.open-ok" {
			return
		}
	}
}

func readMethod(t testing.TB, conn net.Conn) protocol.Method {
	frame := make([]byte, 7, 4096)
	if _, err := io.ReadFull(conn, frame); err != nil {
		t.Fatal(err)
	}
	frame = frame[:int(frame[5])<<8+int(frame[6])+8]
	if _, err := io.ReadFull(conn, frame[7:]); err != nil {
		t.Fatal(err)
	}
	f, _, _, err := protocol.ParseFrame(frame, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// closes logs in, sends connection.close and receives close-ok.
func closes(t *testing.T, conn net.Conn) (begin time.Time) {
	t.Helper()
	dial(t, conn)
	begin = time.Now()
	if _, err := conn.Write(methodFrames(0, &protocol.ConnectionClose{ReplyCode: 200})); err != nil {
		t.Fatal(err)
	}
	if m := readMethod(t, conn); m.Key().String() != "connection.close-ok" {
		t.Fatalf("got %+v", m)
	}
	return begin
}

func TestTCPClose(t *testing.T) {
	overTCP(t, func(t *testing.T, wrap wrapper) {
		conn := tcp(t, func(s connection.ChannelSpec) actor.Actor { return &sink{spec: s} }, wrap)
		begin := closes(t, conn)
		quiet(t, conn, begin)
	})
}

// quiet checks that nothing arrives, not even EOF, while the broker leaves it to the client to close the socket.
func quiet(t *testing.T, conn net.Conn, begin time.Time) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	n, err := conn.Read(make([]byte, 1))
	late := time.Since(begin) >= 3*time.Second // the test was delayed
	if !errors.Is(err, os.ErrDeadlineExceeded) && !(late && err == io.EOF) {
		t.Fatalf("%d bytes, %v", n, err)
	}
}

// The client receives the broker's header and then EOF at once, although the broker lingers.
func TestTCPWrongHeader(t *testing.T) {
	overTCP(t, func(t *testing.T, wrap wrapper) {
		conn := tcp(t, nil, wrap)
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: broker\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		got, err := io.ReadAll(conn)
		if err != nil || string(got) != string(protocol.ProtocolHeader[:]) {
			t.Fatalf("%q %v", got, err)
		}
	})
}

// A client that continues to publish after an error still receives connection.close.
func TestTCPErrorIsRead(t *testing.T) {
	overTCP(t, func(t *testing.T, wrap wrapper) {
		conn := tcp(t, func(s connection.ChannelSpec) actor.Actor { return &sink{spec: s} }, wrap)
		dial(t, conn)
		stop := make(chan struct{})
		defer close(stop)
		if _, err := conn.Write([]byte{9, 0, 1, 0, 0, 0, 0, protocol.FrameEnd}); err != nil {
			t.Fatal(err)
		}
		frames := contentFrames(1, 1000)
		for range 100 {
			if _, err := conn.Write(frames); err != nil {
				t.Fatal(err)
			}
		}
		if m, ok := readMethod(t, conn).(*protocol.ConnectionClose); !ok || m.ReplyCode != 501 {
			t.Fatalf("got %+v", m)
		}
	})
}

// A client that sends more frames after its connection.close still receives close-ok, and no reset.
func TestTCPCloseOvertakes(t *testing.T) {
	overTCP(t, func(t *testing.T, wrap wrapper) {
		conn := tcp(t, func(s connection.ChannelSpec) actor.Actor { return &sink{spec: s} }, wrap)
		begin := closes(t, conn)
		for range 100 {
			if _, err := conn.Write(contentFrames(1, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		quiet(t, conn, begin)
	})
}

// When a frame has to wait, input for other channels and input behind it is passed on in order.
func TestTCPOpensInBetween(t *testing.T) {
	overTCP(t, func(t *testing.T, wrap wrapper) {
		acks := make(chan int, 1000)
		conn := tcp(t, func(s connection.ChannelSpec) actor.Actor { return &sink{spec: s, acks: acks} }, wrap)
		dial(t, conn)
		for round := range uint16(100) {
			b := contentFrames(1, 10)
			b = append(b, methodFrames(2+round, &protocol.ChannelOpen{})...)
			b = append(b, contentFrames(2+round, 10)...)
			b = append(b, contentFrames(1, 10)...)
			if _, err := conn.Write(b); err != nil {
				t.Fatal(err)
			}
			if m, ok := readMethod(t, conn).(*protocol.ChannelOpenOk); !ok {
				t.Fatalf("got %+v", m)
			}
			for methods := 0; methods < 3; {
				methods += <-acks
			}
		}
	})
}

// A client that publishes during an alarm is not read any more, even if a frame that has to wait follows in the same read.
func TestTCPAlarm(t *testing.T) {
	overTCP(t, func(t *testing.T, wrap wrapper) {
		valve := budget.NewValve(&budget.Budget{})
		pid, broker := make(chan *actor.PID, 1), make(chan *actor.PID, 1)
		var system *actor.ActorSystem
		conn := tcp(t, func(s connection.ChannelSpec) actor.Actor {
			if s.ID != 1 {
				return &sink{spec: s}
			}
			broker <- actorlib.PID(s.Connection)
			return &starter{sink: sink{spec: s}, channel: pid, system: &system}
		}, wrap, func(cfg *connection.Config) { cfg.Valve = valve })
		dial(t, conn)
		<-pid
		valve.SetShut(true)
		for _, channel := range []uint16{2, 3} {
			if _, err := conn.Write(append(contentFrames(1, 10), methodFrames(channel, &protocol.ChannelOpen{})...)); err != nil {
				t.Fatal(err)
			}
			if channel == 2 {
				readMethod(t, conn)
			}
		}
		quiet(t, conn, time.Now())
		_ = conn.SetReadDeadline(time.Time{})
		valve.SetShut(false)
		system.Root.Send(<-broker, &mail.Unblock{})
		if m, ok := readMethod(t, conn).(*protocol.ChannelOpenOk); !ok {
			t.Errorf("got %+v", m)
		}
	})
}

// sink is a channel that counts methods and answers every basic.get-empty with
// one of its own.
type sink struct {
	spec connection.ChannelSpec
	acks chan<- int
}

func (s *sink) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *mail.Inbound:
		n := 0
		for _, run := range m.Runs {
			for len(run) > 0 {
				f, length, _, _ := protocol.ParseFrame(run, 0)
				if f.Type == protocol.FrameMethod {
					n++
					if f.Payload[3] == 72 {
						s.spec.Outbox.End(protocol.AppendMethodFrame(s.spec.Outbox.Begin(), 1, &protocol.BasicGetEmpty{}))
					}
				}
				run = run[length:]
			}
		}
		m.Chunk.Release()
		if s.acks != nil {
			s.acks <- n
		}
	case *mail.CloseChannel:
		actorlib.Send(ctx, s.spec.Connection, &mail.ChannelClosed{ID: s.spec.ID, Channel: ctx.Self()})
		ctx.Stop(ctx.Self())
	case *flood:
		m.run(ctx, s.spec.Outbox)
	}
}

// flood writes n frames to the outbox while there is room.
type flood struct{ n int }

func (f *flood) run(ctx actor.Context, o *outbox.Outbox) {
	var body [100]byte
	b := o.Begin()
	for ; f.n > 0 && o.RoomFor(b); f.n-- {
		b = protocol.AppendBodyFrames(b, 1, body[:], 0)
	}
	o.End(b)
	if f.n > 0 {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		o.WhenRoom(func() { root.Send(self, f) })
	}
}
