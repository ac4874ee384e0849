package amqp10

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
)

// echo is a minimal server that a client can publish to and consume from: it delivers the message that it received last.
type echo struct {
	conn    net.Conn
	in      []byte
	links   map[uint32]*Attach // by the client's handle
	message []byte
	sent    uint32
	states  []StateKind // of the deliveries
}

const smallFrames = MinMaxFrameSize // so small that a message takes several

// header reads a protocol header.
func (e *echo) header(want [8]byte) error {
	var got [8]byte
	if _, err := io.ReadFull(e.conn, got[:]); err != nil || got != want {
		return errors.Join(err, errors.New(string(got[:])))
	}
	return nil
}

func (e *echo) frame() (f Frame, p Composite, payload []byte, err error) {
	for {
		f, n, _, err := ParseFrame(e.in, smallFrames)
		if err != nil {
			return Frame{}, nil, nil, err
		}
		if n > 0 {
			e.in = e.in[n:]
			if len(f.Body) == 0 {
				continue // a heartbeat
			}
			p, payload, err := f.Decode()
			return f, p, payload, err
		}
		buf := make([]byte, 1024)
		got, err := e.conn.Read(buf)
		if err != nil {
			return Frame{}, nil, nil, err
		}
		e.in = append(e.in, buf[:got]...)
	}
}

// serve runs the server until the client closes.
func (e *echo) serve() error {
	if err := e.header(SASLProtocolHeader); err != nil {
		return err
	}
	mechanisms := AppendFrame(SASLProtocolHeader[:], 0, &SASLMechanisms{[]Symbol{"PLAIN", "ANONYMOUS"}})
	if _, err := e.conn.Write(mechanisms); err != nil {
		return err
	}
	_, p, _, err := e.frame()
	initial, ok := p.(*SASLInit)
	if err != nil || !ok {
		return errors.Join(err, errors.New("no sasl-init"))
	}
	if string(initial.InitialResponse) != "\x00guest\x00secret" {
		return errors.New("no PLAIN response")
	}
	if _, err := e.conn.Write(AppendFrame(nil, 0, &SASLOutcome{Result: SASLOK})); err != nil {
		return err
	}
	if err := e.header(ProtocolHeader); err != nil {
		return err
	}
	out := ProtocolHeader[:]
	for {
		if _, err := e.conn.Write(out); err != nil {
			return err
		}
		f, p, payload, err := e.frame()
		if err != nil {
			return err
		}
		out = e.answer(f.Channel, p, payload)
		if _, ok := p.(*Close); ok {
			_, _ = e.conn.Write(out) // the client may have closed the socket already
			return nil
		}
	}
}

// answer returns the frames that answer a frame.
func (e *echo) answer(channel uint16, p Composite, payload []byte) []byte {
	switch p := p.(type) {
	case *Open:
		return AppendFrame(nil, 0, &Open{ContainerID: "echo", MaxFrameSize: smallFrames, ChannelMax: 10, Properties: Map{{Symbol("product"), "echo"}}})
	case *Begin:
		return AppendFrame(nil, channel, &Begin{RemoteChannel: Some(channel), IncomingWindow: 1000, OutgoingWindow: 1000, HandleMax: 10})
	case *Attach:
		e.links[p.Handle] = p
		reply := *p
		reply.Role = !p.Role
		if p.Role == RoleReceiver {
			reply.InitialDeliveryCount = Some[uint32](0)
			return AppendFrame(nil, channel, &reply)
		}
		credit := Flow{NextIncomingID: Some[uint32](0), IncomingWindow: 1000, OutgoingWindow: 1000, Handle: Some(p.Handle), DeliveryCount: Some[uint32](0), LinkCredit: Some[uint32](10)}
		return AppendFrame(AppendFrame(nil, channel, &reply), channel, &credit)
	case *Transfer:
		e.message = append(e.message, payload...)
		if p.More || p.Settled {
			return nil
		}
		return AppendFrame(nil, channel, &Disposition{Role: RoleReceiver, First: p.DeliveryID.Value, Settled: true, State: State{Kind: Accepted}})
	case *Flow:
		if p.Handle.Set && p.LinkCredit.Value > 0 && e.links[p.Handle.Value].Role == RoleReceiver && e.sent == 0 {
			e.sent++
			t := Transfer{Handle: p.Handle.Value, DeliveryID: Some[uint32](0), DeliveryTag: []byte("tag"), MessageFormat: Some[uint32](0)}
			return AppendTransfer(nil, channel, &t, smallFrames, e.message[:7], e.message[7:])
		}
		return nil
	case *Disposition:
		e.states = append(e.states, p.State.Kind)
		return AppendFrame(nil, channel, &Disposition{Role: RoleSender, First: p.First, Settled: true, State: p.State})
	case *Detach:
		return AppendFrame(nil, channel, &Detach{Handle: p.Handle, Closed: true})
	case *End:
		return AppendFrame(nil, channel, p)
	case *Close:
		return AppendFrame(nil, 0, p)
	}
	return nil
}

// An independent client logs in, publishes, consumes, settles and closes.
func TestClientSession(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	server := &echo{conn: ours, links: map[uint32]*Attach{}}
	served := make(chan error, 1)
	go func() { served <- server.serve() }()

	conn, err := amqp.NewConn(ctx, theirs, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("guest", "secret"), MaxFrameSize: smallFrames, HostName: "host"})
	if err != nil {
		t.Fatal(err)
	}
	if product := conn.Properties()["product"]; product != "echo" {
		t.Errorf("properties %v", conn.Properties())
	}
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	sent := amqp.NewMessage([]byte(strings.Repeat("payload ", 500)))
	sent.ApplicationProperties = map[string]any{"n": int64(7), "list": []any{"a", uint32(1)}}
	sent.Annotations = amqp.Annotations{"x-opt": time.UnixMilli(5)}
	publish(ctx, t, session, sent)
	if s, err := ScanSections(server.message); err != nil || s.BodyKind != SectionData {
		t.Errorf("the server has %x, %v", server.message, err)
	}
	got := consume(ctx, t, session)
	if !bytes.Equal(got.GetData(), sent.GetData()) || !reflect.DeepEqual(got.ApplicationProperties, sent.ApplicationProperties) || !reflect.DeepEqual(got.Annotations, sent.Annotations) {
		t.Errorf("got %+v, want %+v", got, sent)
	}
	if err := session.Close(ctx); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close() // may report that the client has already closed the pipe
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(server.states, []StateKind{Modified}) {
		t.Errorf("states %#v", server.states)
	}
}

func publish(ctx context.Context, t *testing.T, session *amqp.Session, m *amqp.Message) {
	sender, err := session.NewSender(ctx, "/queues/q", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sender.Send(ctx, m, nil), sender.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}

func consume(ctx context.Context, t *testing.T, session *amqp.Session) *amqp.Message {
	receiver, err := session.NewReceiver(ctx, "/queues/q", &amqp.ReceiverOptions{
		Credit: 1, SettlementMode: amqp.ReceiverSettleModeSecond.Ptr(), Filters: []amqp.LinkFilter{amqp.NewSelectorFilter("n = 7")},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := receiver.Receive(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	settled := receiver.ModifyMessage(ctx, m, &amqp.ModifyMessageOptions{DeliveryFailed: true, Annotations: amqp.Annotations{"x-why": "test"}})
	if err := errors.Join(settled, receiver.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	return m
}
