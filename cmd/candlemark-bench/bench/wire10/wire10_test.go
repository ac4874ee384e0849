package wire10

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/protocol/amqp10"
)

// Next reads all frames that a broker sends on links, also byte by byte: credit, confirms of ranges, a message in several frames, ends.
func TestNext(t *testing.T) {
	var in []byte
	add := func(ch uint16, p amqp10.Composite) { in = amqp10.AppendFrame(in, ch, p) }
	add(0, &amqp10.Flow{NextIncomingID: amqp10.Some(uint32(0)), IncomingWindow: 2048, Handle: amqp10.Some(uint32(0)), DeliveryCount: amqp10.Some(uint32(0)), LinkCredit: amqp10.Some(uint32(170))})
	add(0, &amqp10.Flow{NextIncomingID: amqp10.Some(uint32(40)), IncomingWindow: 60})
	add(0, &amqp10.Disposition{Role: amqp10.RoleReceiver, First: 0, Last: amqp10.Some(uint32(4)), Settled: true, State: amqp10.State{Kind: amqp10.Accepted}})
	add(0, &amqp10.Disposition{Role: amqp10.RoleReceiver, First: 5, Settled: true, State: amqp10.State{Kind: amqp10.Rejected}})
	in = amqp10.AppendHeartbeat(in)
	body := bytes.Repeat([]byte("x"), 1500)
	head := amqp10.AppendDataHead(amqp10.AppendComposite(nil, &amqp10.Header{DeliveryCount: 1}), len(body))
	in = amqp10.AppendTransfer(in, 1, &amqp10.Transfer{DeliveryID: amqp10.Some(uint32(7)), DeliveryTag: []byte("t")}, amqp10.MinMaxFrameSize, head, body)
	add(0, &amqp10.End{})
	add(1, &amqp10.Detach{Error: amqp10.Errorf("amqp:not-found", "no queue")})
	for name, src := range map[string]io.Reader{"at once": bytes.NewReader(in), "by bytes": iotest.OneByteReader(bytes.NewReader(in))} {
		c := &Conn{in: wire.NewInput(src, 64), links: []*link{{sender: true, frames: 1}, {}}}
		var ev wire.Event
		for i, want := range []wire.Event{
			{Kind: wire.Credit, Channel: 1, Tag: 170},
			{Kind: wire.Credit, Channel: 1, Tag: 100},
			{Kind: wire.Ack, Channel: 1, First: 1, Tag: 5},
			{Kind: wire.Nack, Channel: 1, First: 6, Tag: 6},
			{Kind: wire.Heartbeat},
			{Kind: wire.Deliver, Channel: 2, Tag: 7, Flag: true, Body: body},
			{Kind: wire.Method, Channel: 1},
		} {
			err := c.Next(&ev)
			if err != nil || ev.Kind != want.Kind || ev.Channel != want.Channel || ev.First != want.First || ev.Tag != want.Tag || ev.Flag != want.Flag || !bytes.Equal(ev.Body, want.Body) {
				t.Errorf("%s, %d: %v %+v", name, i, err, ev)
			}
		}
		if !c.Finished(&ev) {
			t.Errorf("%s: the end is no answer", name)
		}
		var closed *wire.Closed
		if err := c.Next(&ev); !errors.As(err, &closed) || closed.Scope != "link" || !strings.Contains(closed.Text, "no queue") {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Next(&ev); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
}

// The 32-bit delivery numbers wrap around; publishes are counted in 64 bits.
func TestNear(t *testing.T) {
	for _, c := range []struct {
		to   uint64
		n    uint32
		want uint64
	}{{0, 5, 5}, {1 << 32, 5, 1<<32 + 5}, {1<<32 - 3, 2, 1<<32 + 2}, {1<<32 + 2, 1<<32 - 3, 1<<32 - 3}} {
		if got := near(c.to, c.n); got != c.want {
			t.Errorf("%d near %d is %d, want %d", c.n, c.to, got, c.want)
		}
	}
}

// Each message of a batch has its own delivery number, and a change to one body affects only that message.
func TestBatch(t *testing.T) {
	c := &Conn{frameMax: amqp10.MinMaxFrameSize, links: []*link{{next: 1<<32 - 2}}}
	b := c.Batch(3, &wire.Publish{Channel: 1, Key: "k", Body: make([]byte, 600)})
	for i := range 3 {
		b.Body(i, 40)[0] = byte(i + 1)
	}
	client := &Conn{in: wire.NewInput(bytes.NewReader(b.Bytes(3)), 64), links: []*link{{}}}
	var ev wire.Event
	for i := range 3 {
		if err := client.Next(&ev); err != nil || uint32(ev.Tag) != uint32(1<<32-2+i) || len(ev.Body) != 600 || ev.Body[0] != byte(i+1) {
			t.Fatal(err, ev.Tag, len(ev.Body))
		}
	}
}

// A message with the same head as the previous message still gets its own body and flag.
func TestAlike(t *testing.T) {
	type message struct {
		attempts uint32
		parts    []string
	}
	all := []message{{0, []string{"ab"}}, {0, []string{"cd"}}, {1, []string{"ef"}}, {1, []string{"gh"}}, {1, []string{"i", "j"}}, {1, []string{"k", "l"}}, {0, []string{"m"}}, {0, nil}, {0, []string{"no"}}}
	var in []byte
	for i, m := range all {
		text := amqp10.AppendComposite(nil, &amqp10.Header{DeliveryCount: m.attempts})
		for _, part := range m.parts {
			text = append(amqp10.AppendDataHead(text, len(part)), part...)
		}
		in = amqp10.AppendTransfer(in, 0, &amqp10.Transfer{DeliveryID: amqp10.Some(uint32(i)), DeliveryTag: []byte("t")}, 1<<20, text)
	}
	client := &Conn{in: wire.NewInput(bytes.NewReader(in), 64), links: []*link{{}}}
	var ev wire.Event
	for _, m := range all {
		if err := client.Next(&ev); err != nil || string(ev.Body) != strings.Join(m.parts, "") || ev.Flag != (m.attempts > 0) {
			t.Errorf("%+v: %q %v, %v", m, ev.Body, ev.Flag, err)
		}
	}
}

// The window of a session is counted in frames: the computed number of frames per message is the real one for all delivery numbers.
func TestFrames(t *testing.T) {
	for _, body := range []int{0, 100, 1900, 2000, 2048, 4000, 130_000} {
		for _, most := range []uint32{minFrame, frameMax} {
			p := &wire.Publish{Channel: 1, Key: "k", Body: make([]byte, body)}
			near, far := net.Pipe()
			c := &Conn{Conn: near, in: wire.NewInput(near, 64), frameMax: most}
			go func() {
				defer func() { _ = far.Close() }()
				room := make([]byte, 4096)
				_, _ = far.Read(room)
				_, _ = far.Write(amqp10.AppendFrame(nil, 0, &amqp10.Begin{RemoteChannel: amqp10.Some(uint16(0)), IncomingWindow: 1000}))
				_, _ = far.Read(room)
				_, _ = far.Write(amqp10.AppendFrame(nil, 0, &amqp10.Attach{Name: "x", Role: amqp10.RoleReceiver}))
			}()
			if err := c.Publisher(1, p, true); err != nil {
				t.Fatal(err)
			}
			for _, next := range []uint32{0, 1, 300, 1<<32 - 1} {
				c.links[0].next = next
				count := uint64(0)
				for rest := c.Append(nil, p); len(rest) > 0; count++ {
					_, n, _, err := amqp10.ParseFrame(rest, most)
					if err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				if l := c.links[0]; l.frames != count || l.window != 1000/count {
					t.Errorf("%d bytes, frames of %d: %d frames, counted %d", body, most, count, l.frames)
				}
			}
			_ = near.Close()
		}
	}
}

func TestSmallFramesAreRefused(t *testing.T) {
	for _, most := range [][2]uint32{{minFrame - 1, frameMax}, {frameMax, minFrame - 1}, {512, 512}} {
		if enough(most[0], most[1]) == nil {
			t.Errorf("%d are enough", most)
		}
	}
	if err := enough(minFrame, minFrame); err != nil {
		t.Error(err)
	}
}

// Malformed input is an error, not a panic.
func FuzzNext(f *testing.F) {
	f.Add(amqp10.AppendFrame(nil, 0, &amqp10.Flow{LinkCredit: amqp10.Some(uint32(170))}))
	f.Add(amqp10.AppendTransfer(nil, 1, &amqp10.Transfer{DeliveryID: amqp10.Some(uint32(7))}, 512, make([]byte, 600)))
	f.Fuzz(func(_ *testing.T, in []byte) {
		c := &Conn{in: wire.NewInput(bytes.NewReader(in), 64), links: []*link{{sender: true, frames: 1}, {}}}
		var ev wire.Event
		for c.Next(&ev) == nil {
		}
	})
}
