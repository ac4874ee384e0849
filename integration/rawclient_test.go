package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"candlemark/protocol"
)

// rawClient is a socket to which a test writes arbitrary bytes.
type rawClient struct {
	*testing.T
	*net.TCPConn
	buf []byte
}

const frameMax = 131072

// connectRaw connects a socket until the test ends.
func (b *broker) connectRaw(t *testing.T) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", b.amqp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // may be closed already
	i := &rawClient{T: t, TCPConn: conn.(*net.TCPConn)}
	i.must(conn.SetDeadline(time.Now().Add(patience)))
	return i
}

func (i *rawClient) must(err error) {
	i.Helper()
	if err != nil {
		i.Fatal(err)
	}
}

// say writes. The broker may already have closed the connection.
func (i *rawClient) say(parts ...[]byte) {
	_, _ = i.Write(bytes.Join(parts, nil))
}

func method(channel uint16, m protocol.Method) []byte {
	return protocol.AppendMethodFrame(nil, channel, m)
}

// frameOf returns a frame with any type and payload.
func frameOf(kind byte, channel uint16, payload ...byte) []byte {
	f := []byte{kind, byte(channel >> 8), byte(channel), 0, 0, byte(len(payload) >> 8), byte(len(payload))}
	return append(append(f, payload...), protocol.FrameEnd)
}

// next reads one frame, skipping heartbeats.
func (i *rawClient) next() (protocol.Frame, error) {
	for {
		f, n, _, err := protocol.ParseFrame(i.buf, 0)
		if err != nil {
			return f, err
		}
		if n > 0 {
			i.buf = i.buf[n:]
			if f.Type == protocol.FrameHeartbeat {
				continue
			}
			return f, nil
		}
		more := make([]byte, 64<<10)
		n, err = i.Read(more)
		if err != nil {
			return f, err
		}
		i.buf = append(i.buf, more[:n]...)
	}
}

// expect reads a method of that type.
func expect[T protocol.Method](i *rawClient) T {
	i.Helper()
	var none T
	f, err := i.next()
	if err != nil {
		i.Fatalf("%v instead of %T", err, none)
	}
	m, err := protocol.DecodeMethod(f.Payload)
	if err != nil || f.Type != protocol.FrameMethod {
		i.Fatalf("frame %+v, %v instead of %T", f, err, none)
	}
	got, ok := m.(T)
	if !ok {
		i.Fatalf("%s %+v instead of %T", m.Key().String(), m, none)
	}
	return got
}

// login opens the connection with a heartbeat in s, 0 for none.
func (i *rawClient) login(heartbeat uint16) {
	i.Helper()
	i.greet("guest")
	expect[*protocol.ConnectionTune](i)
	i.say(method(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: frameMax, Heartbeat: heartbeat}),
		method(0, &protocol.ConnectionOpen{VirtualHost: "/"}))
	expect[*protocol.ConnectionOpenOk](i)
}

// greet sends the protocol header and connection.start-ok with the password.
func (i *rawClient) greet(password string) {
	i.Helper()
	i.say(protocol.ProtocolHeader[:])
	expect[*protocol.ConnectionStart](i)
	able := protocol.Table{{Key: "capabilities", Value: protocol.Table{
		{Key: "authentication_failure_close", Value: true}, {Key: "connection.blocked", Value: true},
	}}}
	i.say(method(0, &protocol.ConnectionStartOk{
		ClientProperties: able, Mechanism: "PLAIN", Response: []byte("\x00guest\x00" + password), Locale: "en_US",
	}))
}

// open opens a channel.
func (i *rawClient) open(channel uint16) {
	i.Helper()
	i.say(method(channel, &protocol.ChannelOpen{}))
	expect[*protocol.ChannelOpenOk](i)
}

// mine declares an exclusive queue on channel 1, by which others can detect whether the broker has noticed the end of the
// connection.
func (i *rawClient) mine(name string) {
	i.Helper()
	i.open(1)
	i.say(method(1, &protocol.QueueDeclare{Queue: name, Exclusive: true}))
	expect[*protocol.QueueDeclareOk](i)
}

// refused expects connection.close and then the end of the stream.
func (i *rawClient) refused(code uint16, text string) {
	i.Helper()
	m := expect[*protocol.ConnectionClose](i)
	if m.ReplyCode != code || !bytes.Contains([]byte(m.ReplyText), []byte(text)) {
		i.Errorf("closed with %d %q, want %d %q", m.ReplyCode, m.ReplyText, code, text)
	}
	i.say(method(0, &protocol.ConnectionCloseOk{}))
	i.over()
}

// over expects the end of the stream without another frame.
func (i *rawClient) over() {
	i.Helper()
	f, err := i.next()
	if err == nil {
		i.Errorf("another frame: %+v", f)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		i.Error("the broker does not hang up")
	}
}

// answers expects exactly these bytes and then the end of the stream.
func (i *rawClient) answers(want []byte) {
	i.Helper()
	got, err := io.ReadAll(i)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		i.Error("the broker does not hang up")
	}
	if !bytes.Equal(got, want) {
		i.Errorf("answered %q, want %q", got, want)
	}
}

// bystander is a connection opened before the disturbance, with a consumer.
type bystander struct {
	*client
	queue string
	got   <-chan string
	mu    sync.Mutex
	count int
}

func (b *broker) bystander() *bystander {
	b.Helper()
	c := b.dial()
	s := &bystander{client: c, queue: c.queue("bystander", nil)}
	deliveries := c.consume(s.queue, true)
	got := make(chan string, 1)
	s.got = got
	go func() {
		defer close(got)
		for d := range deliveries {
			got <- string(d.Body)
		}
	}()
	return s
}

// undisturbed publishes and consumes on the existing connection, and opens a new one.
func (s *bystander) undisturbed(b *broker) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	body := fmt.Sprint("ping ", s.count)
	s.send(s.queue, body)
	select {
	case got := <-s.got:
		if got != body {
			s.Errorf("bystander got %q, want %q", got, body)
		}
	case <-time.After(patience):
		s.Error("the bystander's message does not come")
	}
	fresh := b.connectRaw(s.T)
	fresh.login(0)
	fresh.say(method(0, &protocol.ConnectionClose{ReplyCode: 200}))
	expect[*protocol.ConnectionCloseOk](fresh)
	_ = fresh.Close() // closed again when the test ends
}
