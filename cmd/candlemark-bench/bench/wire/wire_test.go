package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"candlemark/protocol"
)

// Next reads all frames that a broker sends on its own, also byte by byte: deliveries with long and empty bodies,
// confirms, a return, a heartbeat, a close.
func TestNext(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 10_000)
	var in []byte
	in = protocol.AppendDeliverFrame(in, 1, "tag", 5, true, []byte("x"), []byte("k"))
	in = protocol.AppendHeaderFrame(in, 1, uint64(len(long)), []byte{0, 0})
	in = protocol.AppendBodyFrames(in, 1, long, 4096)
	in = protocol.AppendAckFrame(in, 2, 7, true)
	in = protocol.AppendNackFrame(in, 2, 8, false, false)
	in = protocol.AppendMethodFrame(in, 1, &protocol.BasicReturn{ReplyCode: 312, ReplyText: "NO_ROUTE"})
	in = protocol.AppendHeaderFrame(in, 1, 0, []byte{0x08, 0, 1, '1'})
	in = protocol.AppendHeartbeat(in)
	in = protocol.AppendMethodFrame(in, 0, &protocol.ConnectionClose{ReplyCode: 320, ReplyText: "bye"})
	for name, src := range map[string]io.Reader{"at once": bytes.NewReader(in), "by bytes": iotest.OneByteReader(bytes.NewReader(in))} {
		c := &Conn{in: NewInput(src, 64)}
		var ev Event
		for i, want := range []Event{
			{Kind: Deliver, Channel: 1, Tag: 5, Flag: true, Body: long},
			{Kind: Ack, Channel: 2, Tag: 7, Flag: true},
			{Kind: Nack, Channel: 2, Tag: 8},
			{Kind: Return, Channel: 1},
			{Kind: Heartbeat},
			{Kind: Method},
		} {
			if err := c.Next(&ev); err != nil || ev.Kind != want.Kind || ev.Channel != want.Channel || !bytes.Equal(ev.Body, want.Body) {
				t.Fatalf("%s, %d: %v %+v", name, i, err, ev)
			}
			if want.Kind != Return && (ev.Tag != want.Tag || ev.Flag != want.Flag) {
				t.Errorf("%s, %d: %+v", name, i, ev)
			}
		}
		if m, err := ev.Decode(); err != nil || m.(*protocol.ConnectionClose).ReplyText != "bye" {
			t.Error(m, err)
		}
		if err := c.Next(&ev); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
}

// Malformed input is an error, not a panic.
func FuzzNext(f *testing.F) {
	f.Add(deliveries(2))
	f.Add(protocol.AppendBodyFrames(nil, 1, []byte("body"), 0))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := &Conn{in: NewInput(bytes.NewReader(in), 64)}
		var ev Event
		for c.Next(&ev) == nil {
		}
	})
}

// A change to one body of a batch affects only that message.
func TestBatch(t *testing.T) {
	p := Publish{Channel: 3, Exchange: "x", Key: "k", Mandatory: true, Body: make([]byte, 5000)}
	b := (&Conn{FrameMax: protocol.FrameMinSize}).Batch(3, &p)
	for i := range 3 {
		b.Body(i, 40)[0] = byte(i + 1)
	}
	in := &Conn{in: NewInput(bytes.NewReader(b.Bytes(3)), 64)}
	for i := range 3 {
		for _, kind := range []uint8{protocol.FrameMethod, protocol.FrameHeader, protocol.FrameBody, protocol.FrameBody} {
			f, err := in.next()
			if err != nil || f.Type != kind || f.Channel != 3 {
				t.Fatal(f, err)
			}
			if kind == protocol.FrameBody && len(f.Payload) > 4000 && f.Payload[0] != byte(i+1) {
				t.Errorf("message %d begins with %d", i, f.Payload[0])
			}
		}
	}
	if _, err := in.next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
