package broker

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"candlemark/integration/testkit"
	"candlemark/protocol"
)

// wire is a client that sends exactly the frames given by the test, on channel 1 unless another is given, and records the
// answers.
type wire struct {
	*testkit.Bubble
	conn  net.Conn
	mu    sync.Mutex
	heard []string
}

// dialWire opens a connection; it returns after connection.start.
func dialWire(b *testkit.Bubble) *wire {
	ours, theirs := net.Pipe()
	b.Node.Connect(ours)
	w := &wire{Bubble: b, conn: theirs}
	go w.listen()
	w.write(protocol.ProtocolHeader[:])
	w.take()
	return w
}

// openWire opens a connection as guest, with channel 1.
func openWire(b *testkit.Bubble) *wire {
	w := dialWire(b)
	w.say(startOk("guest", "guest"), &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, &protocol.ConnectionOpen{VirtualHost: "/"})
	w.say(&protocol.ChannelOpen{})
	if heard := w.take(); heard != "connection.tune, connection.open-ok, channel.open-ok" {
		b.Fatal(heard)
	}
	return w
}

func startOk(user, password string) *protocol.ConnectionStartOk {
	return &protocol.ConnectionStartOk{
		Mechanism: "PLAIN", Response: []byte("\x00" + user + "\x00" + password), Locale: "en_US",
		ClientProperties: protocol.Table{{Key: "capabilities", Value: protocol.Table{
			{Key: "authentication_failure_close", Value: true}, {Key: "consumer_cancel_notify", Value: true},
		}}},
	}
}

// listen records methods, with the details of errors.
func (w *wire) listen() {
	var pending []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := w.conn.Read(buf)
		pending = append(pending, buf[:n]...)
		for len(pending) > 0 {
			if len(pending) >= 8 && string(pending[:4]) == "AMQP" {
				w.hear(fmt.Sprintf("header %q", pending[4:8]))
				pending = pending[8:]
				continue
			}
			f, size, _, err := protocol.ParseFrame(pending, 0)
			if size == 0 || err != nil {
				break
			}
			if f.Type == protocol.FrameMethod {
				w.hear(inWords(f))
			}
			pending = pending[size:]
		}
		if err != nil {
			if err == io.EOF {
				w.hear("end")
			}
			return
		}
	}
}

// inWords returns a method's name; for errors and returns also their codes and texts.
func inWords(f protocol.Frame) string {
	method, err := protocol.DecodeMethod(f.Payload)
	if err != nil {
		return err.Error()
	}
	switch m := method.(type) {
	case *protocol.ChannelClose:
		return fmt.Sprintf("channel %d %d/%d %s", m.ReplyCode, m.Class, m.Method, m.ReplyText)
	case *protocol.ConnectionClose:
		return fmt.Sprintf("connection %d %d/%d %s", m.ReplyCode, m.Class, m.Method, m.ReplyText)
	case *protocol.BasicReturn:
		return fmt.Sprintf("basic.return %d %s", m.ReplyCode, m.ReplyText)
	case *protocol.BasicAck:
		return fmt.Sprintf("basic.ack %d", m.DeliveryTag)
	case *protocol.BasicNack:
		return fmt.Sprintf("basic.nack %d", m.DeliveryTag)
	default:
		return m.Key().String()
	}
}

func (w *wire) hear(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, what)
}

// take returns the answers received since the last call, once the broker is idle.
func (w *wire) take() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	heard := strings.Join(w.heard, ", ")
	w.heard = nil
	return heard
}

func (w *wire) write(b []byte) {
	_, _ = w.conn.Write(b) // the broker may have closed the connection
}

// on is a frame or method sent on another channel.
type on struct {
	channel uint16
	what    any
}

// rawFrame is a frame of any type.
type rawFrame struct {
	kind    uint8
	payload []byte
}

// whole is a complete basic.publish with header and body.
type whole struct {
	protocol.BasicPublish
	protocol.Properties
	body string
}

// say sends several items, each when the broker is idle.
func (w *wire) say(things ...any) {
	for _, thing := range things {
		channel := uint16(1)
		if o, ok := thing.(on); ok {
			channel, thing = o.channel, o.what
		}
		w.write(frames(channel, thing))
		synctest.Wait()
	}
}

func frames(channel uint16, thing any) []byte {
	switch x := thing.(type) {
	case []byte:
		return x
	case rawFrame:
		b := append([]byte{x.kind}, byte(channel>>8), byte(channel))
		b = binary.BigEndian.AppendUint32(b, uint32(len(x.payload)))
		return append(append(b, x.payload...), protocol.FrameEnd)
	case whole:
		b := protocol.AppendMethodFrame(nil, channel, &x.BasicPublish)
		b = protocol.AppendHeaderFrame(b, channel, uint64(len(x.body)), x.Properties.Append(nil))
		return protocol.AppendBodyFrames(b, channel, []byte(x.body), 131072)
	case protocol.Method:
		if x.Key().Class() == 10 {
			channel = 0
		}
		return protocol.AppendMethodFrame(nil, channel, x)
	}
	panic(fmt.Sprintf("%T cannot be said", thing))
}

// row is a list of items to send to a broker of its own, and the answer to the last one.
type row struct {
	name string // including the rule
	say  []any
	want string
}

// play runs the rows of a table, each on a connection with channel 1 open.
func play(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				b.Log.Allow("")
				w := openWire(b)
				defer w.conn.Close()
				last := len(r.say) - 1
				w.say(r.say[:last]...)
				w.take()
				w.say(r.say[last])
				if heard := w.take(); heard != r.want {
					t.Errorf("\n got %s\nwant %s", heard, r.want)
				}
			})
		})
	}
}
