package connection_test

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/users"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is one connection in a bubble: a client over net.Pipe, and probes for the channels and the vhost.
type rig struct {
	*client
	t      *testing.T
	system *actor.ActorSystem
	conn   *actor.PID
	events chan string   // mail received by the probes
	ended  chan struct{} // closed when the connection actor ends
	vhost  *topology.VHost
}

// bubble runs test on a connection that expects its protocol header.
func bubble(t *testing.T, change func(*connection.Config), test func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		system := actor.NewActorSystemWithConfig(actor.Configure(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })))
		defer system.Shutdown()
		system.EventStream.Subscribe(func(event any) {
			if d, ok := event.(*actor.DeadLetterEvent); ok {
				t.Errorf("mail to the dead: %T to %v", d.Message, d.PID)
			}
		})
		r := &rig{t: t, system: system, events: make(chan string, 1000), ended: make(chan struct{})}
		vhostPID := system.Root.Spawn(actor.PropsFromFunc(r.vhostProbe))
		defer system.Root.Stop(vhostPID)
		r.vhost = topology.NewVHost("/")
		r.vhost.PID = vhostPID
		ours, theirs := net.Pipe()
		cfg := connection.Config{
			Settings: lifecycle.Settings{
				Conn: ours, Clock: clock.New(), ProductVersion: "0.1",
				Authenticator: &users.Fixed{Passwords: map[string]string{"lim": "secret"}},
				Permissions:   &users.Fixed{NoVHost: map[string][]string{"lim": {"forbidden"}}},
				VHost: func(name string) (*topology.VHost, bool) {
					return r.vhost, name == "/" || name == "forbidden"
				},
			},
			NewChannel: func(s connection.ChannelSpec) *actor.Props {
				return actor.PropsFromProducer(func() actor.Actor { return &channelProbe{r: r, spec: s} })
			},
		}
		if change != nil {
			change(&cfg)
		}
		if _, secured := cfg.Conn.(*tls.Conn); secured {
			theirs = tls.Client(theirs, &tls.Config{InsecureSkipVerify: true}) // any certificate
		}
		r.client = newClient(t, theirs)
		r.conn = system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return connection.New(cfg) },
			actor.WithSupervisor(actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective }))))
		system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				ctx.Watch(r.conn)
			case *actor.Terminated:
				close(r.ended)
				ctx.Stop(ctx.Self())
			}
		}))
		synctest.Wait()
		test(r)
		r.client.Close()
		<-r.ended
		synctest.Wait()
	})
}

// running is bubble with a completed handshake.
func running(t *testing.T, change func(*connection.Config), test func(r *rig)) {
	bubble(t, change, func(r *rig) {
		r.login(protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072})
		test(r)
	})
}

func (r *rig) vhostProbe(ctx actor.Context) {
	if m, ok := ctx.Message().(*mail.ReleaseConnection); ok {
		r.events <- "release"
		if m.ReplyTo != nil {
			actorlib.Send(ctx, m.ReplyTo, &mail.ReleaseConnectionReply{Reply: m.Done(nil)})
		}
	}
}

// expectEvents takes the events of the probes.
func (r *rig) expectEvents(want ...string) {
	r.t.Helper()
	synctest.Wait()
	var got []string
	for len(r.events) > 0 {
		got = append(got, <-r.events)
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("events:\n got %q\nwant %q", got, want)
	}
}

// isOver checks that actor and socket have ended.
func (r *rig) isOver() {
	r.t.Helper()
	r.expectEOF()
	synctest.Wait()
	select {
	case <-r.ended:
	default:
		r.t.Fatal("the connection actor has not ended")
	}
}

// channelProbe plays a channel. Methods control it: basic.recover-async makes it panic, basic.get raises a connection error,
// basic.cancel has it ignore CloseChannel, basic.ack has it keep the chunk, basic.reject has it stay after channel.close.
type channelProbe struct {
	r            *rig
	spec         connection.ChannelSpec
	unresponsive bool
	held         []*message.Chunk

	staying bool
}

type letGo struct{}

func (p *channelProbe) Receive(ctx actor.Context) {
	id := p.spec.ID
	switch m := ctx.Message().(type) {
	case *mail.Inbound:
		p.inbound(ctx, m)
	case *mail.CloseChannel:
		p.r.events <- fmt.Sprintf("close %d", id)
		if !p.unresponsive {
			actorlib.Send(ctx, p.spec.Connection, &mail.ChannelClosed{ID: id, Channel: ctx.Self()})
			ctx.Stop(ctx.Self())
		}
	case letGo:
		for _, c := range p.held {
			c.Release()
		}
		p.held = nil
	}
}

func (p *channelProbe) inbound(ctx actor.Context, m *mail.Inbound) {
	id, keep := p.spec.ID, false
	names := ""
	for _, f := range p.frames(m.Runs) {
		if f.Type != protocol.FrameMethod {
			names += fmt.Sprintf(" frame(%d,%d)", f.Type, len(f.Payload))
			continue
		}
		method, err := protocol.DecodeMethod(f.Payload)
		if err != nil {
			names += " " + err.Error()
			continue
		}
		names += " " + method.Key().String()
		switch method.(type) {
		case *protocol.BasicRecoverAsync:
			panic("as ordered")
		case *protocol.BasicGet:
			actorlib.Send(ctx, p.spec.Connection, &mail.CloseConnection{
				Err: protocol.ConnectionErrorf(protocol.NotImplemented, "no get").For(method),
			})
		case *protocol.BasicCancel:
			p.unresponsive = true
		case *protocol.BasicAck:
			keep = true
		case *protocol.BasicReject:
			p.staying = true
		case *protocol.ChannelClose:
			if p.staying {
				continue
			}
			defer func() {
				actorlib.Send(ctx, p.spec.Connection, &mail.ChannelClosed{ID: id, Channel: ctx.Self(), SendCloseOk: true})
				ctx.Stop(ctx.Self())
			}()
		}
	}
	if keep {
		p.held = append(p.held, m.Chunk)
	} else {
		m.Chunk.Release()
	}
	p.r.events <- fmt.Sprintf("%d:%s", id, names)
}

func (p *channelProbe) frames(runs [][]byte) (frames []protocol.Frame) {
	for _, run := range runs {
		for len(run) > 0 {
			f, n, _, err := protocol.ParseFrame(run, 0)
			if err != nil || n == 0 || f.Channel != p.spec.ID {
				panic(fmt.Sprintf("channel %d got %v %v", p.spec.ID, f, err))
			}
			frames = append(frames, f)
			run = run[n:]
		}
	}
	return frames
}

// client sends and receives raw frames. Its goroutine reads all the time.
type client struct {
	net.Conn
	t            *testing.T
	frames       chan protocol.Frame // closed at the end of input
	unresponsive atomic.Bool
}

func newClient(t *testing.T, conn net.Conn) *client {
	c := &client{Conn: conn, t: t, frames: make(chan protocol.Frame, 1000)}
	go func() {
		defer close(c.frames)
		for {
			head := make([]byte, 8)
			if _, err := io.ReadFull(conn, head[:1]); err != nil || c.unresponsive.Load() {
				return
			}
			if _, err := io.ReadFull(conn, head[1:]); err != nil {
				return
			}
			if bytes.Equal(head, protocol.ProtocolHeader[:]) {
				c.frames <- protocol.Frame{Type: 'A'}
				continue
			}
			rest := make([]byte, binary.BigEndian.Uint32(head[3:]))
			if _, err := io.ReadFull(conn, rest); err != nil {
				return
			}
			f, _, _, err := protocol.ParseFrame(append(head, rest...), 0)
			if err != nil {
				panic(err)
			}
			c.frames <- f
		}
	}()
	return c
}

// stopReading has the client read at most one more byte.
func (c *client) stopReading() { c.unresponsive.Store(true) }

func (c *client) send(bytes []byte) {
	c.t.Helper()
	if _, err := c.Write(bytes); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		c.t.Fatal(err)
	}
}

func (c *client) sendMethods(channel uint16, methods ...protocol.Method) {
	c.t.Helper()
	c.send(methodFrames(channel, methods...))
}

func methodFrames(channel uint16, methods ...protocol.Method) (b []byte) {
	for _, m := range methods {
		b = protocol.AppendMethodFrame(b, channel, m)
	}
	return b
}

// receive returns the next method, with its channel.
func (c *client) receive() (uint16, protocol.Method) {
	c.t.Helper()
	f, ok := <-c.frames
	if !ok {
		c.t.Fatal("the connection was closed")
	}
	if f.Type != protocol.FrameMethod {
		c.t.Fatalf("got frame %+v", f)
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		c.t.Fatal(err)
	}
	return f.Channel, m
}

func expect[T protocol.Method](c *client, channel uint16) T {
	c.t.Helper()
	id, m := c.receive()
	got, ok := m.(T)
	if !ok || id != channel {
		c.t.Fatalf("on channel %d got %+v", id, m)
	}
	return got
}

// expectClose receives connection.close and does not answer it.
func (c *client) expectClose(code uint16, text string, class, method uint16) {
	c.t.Helper()
	m := expect[*protocol.ConnectionClose](c, 0)
	if want := (protocol.ConnectionClose{ReplyCode: code, ReplyText: text, Class: class, Method: method}); *m != want {
		c.t.Fatalf("\n got %+v\nwant %+v", *m, want)
	}
}

func (c *client) expectEOF() {
	c.t.Helper()
	if f, ok := <-c.frames; ok {
		c.t.Fatalf("got %+v, want the end", f)
	}
}

// takes checks that a call takes between least and most in virtual time.
func takes(t *testing.T, least, most time.Duration, what func()) {
	t.Helper()
	begin := time.Now()
	what()
	if took := time.Since(begin); took < least || took > most {
		t.Fatalf("took %v, want %v to %v", took, least, most)
	}
}

var able = protocol.Table{{Key: "product", Value: "probe"}, {Key: "capabilities", Value: protocol.Table{
	{Key: "authentication_failure_close", Value: true}, {Key: "basic.nack", Value: true},
}}}

func (c *client) startOk(properties protocol.Table, user, password string) {
	c.t.Helper()
	c.send(protocol.ProtocolHeader[:])
	expect[*protocol.ConnectionStart](c, 0)
	c.sendMethods(0, &protocol.ConnectionStartOk{
		ClientProperties: properties, Mechanism: "PLAIN",
		Response: []byte("\x00" + user + "\x00" + password), Locale: "en_US",
	})
}

func (c *client) login(tune protocol.ConnectionTuneOk) {
	c.t.Helper()
	c.sayOpen(tune, "/")
	expect[*protocol.ConnectionOpenOk](c, 0)
}

// sayOpen runs the handshake up to connection.open.
func (c *client) sayOpen(tune protocol.ConnectionTuneOk, vhost string) {
	c.t.Helper()
	c.startOk(able, "lim", "secret")
	expect[*protocol.ConnectionTune](c, 0)
	c.sendMethods(0, &tune, &protocol.ConnectionOpen{VirtualHost: vhost})
}

func (c *client) openChannel(id uint16) {
	c.t.Helper()
	c.sendMethods(id, &protocol.ChannelOpen{})
	expect[*protocol.ChannelOpenOk](c, id)
}

// ask sends a query and waits for the answer.
func (r *rig) ask(query func(mail.Request) any) (any, error) {
	answer := actor.NewFuture(r.system, time.Second)
	r.system.Root.Send(r.conn, query(mail.Request{ReplyTo: answer.PID()}))
	return answer.Result()
}

// expectEventsInAnyOrder is expectEvents for events of several actors.
func (r *rig) expectEventsInAnyOrder(want ...string) {
	r.t.Helper()
	synctest.Wait()
	var got []string
	for len(r.events) > 0 {
		got = append(got, <-r.events)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.t.Fatalf("events:\n got %q\nwant %q", got, want)
	}
}

// expectFrames is expectEvents for the frames of one channel, in any number of mails.
func (r *rig) expectFrames(prefix string, want ...string) {
	r.t.Helper()
	synctest.Wait()
	var got []string
	for len(r.events) > 0 {
		got = append(got, strings.Fields(strings.TrimPrefix(<-r.events, prefix))...)
	}
	if !slices.Equal(got, want) {
		r.t.Fatalf("frames:\n got %q\nwant %q", got, want)
	}
}
