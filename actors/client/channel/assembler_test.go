package channel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// Unexpected frames in the current state are refused with RabbitMQ's codes and texts.
func TestAssembler_UnexpectedFrames(t *testing.T) {
	method := frame(&protocol.BasicPublish{RoutingKey: "q1"})
	header := protocol.AppendHeaderFrame(nil, 1, 3, []byte{0, 0})
	body := protocol.AppendBodyFrames(nil, 1, []byte("abc"), 0)
	alter := func(b []byte, at int, v byte) []byte {
		b = slices.Clone(b)
		b[at] = v
		return b
	}
	const noHeader = "connection: 505 60/40 UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead"
	const noBody = "connection: 505 60/40 UNEXPECTED_FRAME - expected content body, got non content body frame instead"
	const noMethod = "connection: 505 0/0 UNEXPECTED_FRAME - expected method frame, got non method frame instead"
	for name, c := range map[string]struct {
		frames [][]byte
		want   string
	}{
		"header first":       {[][]byte{header}, noMethod},
		"body first":         {[][]byte{body}, noMethod},
		"method twice":       {[][]byte{method, method}, noHeader},
		"command for header": {[][]byte{method, frame(&protocol.BasicQos{})}, noHeader},
		"close for header":   {[][]byte{method, frame(&protocol.ChannelClose{})}, noHeader},
		"body for header":    {[][]byte{method, body}, noHeader},
		"method for body":    {[][]byte{method, header, method}, noBody},
		"ack for body":       {[][]byte{method, header, frame(&protocol.BasicAck{})}, noBody},
		"header twice":       {[][]byte{method, header, header}, noBody},
		"body twice":         {[][]byte{method, header, body, body}, noMethod},
		"weight":             {[][]byte{method, alter(header, 10, 1)}, noHeader},
		"other class": {
			[][]byte{method, alter(header, 8, 10)},
			"connection: 505 60/40 UNEXPECTED_FRAME - expected content header for class 60, got one for class 10 instead",
		},
		"body too long": {
			[][]byte{method, header, protocol.AppendBodyFrames(nil, 1, []byte("abcd"), 0)},
			"connection: 501 60/40 FRAME_ERROR - content body frame exceeds remaining content size",
		},
		"second body too long": {
			[][]byte{method, header, protocol.AppendBodyFrames(nil, 1, []byte("abcd"), 2+8)},
			"connection: 501 60/40 FRAME_ERROR - content body frame exceeds remaining content size",
		},
		"body beyond all limits": {
			[][]byte{method, protocol.AppendHeaderFrame(nil, 1, 512<<20+1, []byte{0, 0})},
			"connection: 501 60/40 FRAME_ERROR - content body size 536870913 exceeds maximum allowed size 536870912",
		},
		"unreadable properties": {
			[][]byte{method, protocol.AppendHeaderFrame(nil, 1, 0, []byte{0x80, 0, 5})},
			"connection: 501 60/40 FRAME_ERROR - cannot decode properties <<128,0,5>>",
		},
		"unreadable publish": {
			[][]byte{alter(method, 13, 200)},
			"connection: 501 60/40 FRAME_ERROR - cannot decode <<0,0,200,2,113,49,0>>",
		},
		"unknown method": {
			[][]byte{alter(method, 10, 99)},
			"connection: 540 60/99 NOT_IMPLEMENTED - unknown method {60,99}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.feed(c.frames...)
			if n := len(r.posts); n > 1 { // contents complete before the error are routed
				r.posts = r.posts[n-1:]
			}
			r.sent(c.want)
			r.received()
			// Later input is ignored.
			r.feed(publish("", "q1", "late"), frame(&protocol.BasicQos{}))
			r.sent()
			r.received()
		})
	}
}

// splits returns ways to cut a stream of frames into reads: one read for all, one per frame, and at random.
func splits(frames [][]byte) map[string][][][]byte {
	all := map[string][][][]byte{"one read": {frames}}
	for _, f := range frames {
		all["a read each"] = append(all["a read each"], [][]byte{f})
	}
	for i := range 10 {
		name := fmt.Sprintf("at random %d", i)
		all[name] = [][][]byte{nil}
		for _, f := range frames {
			reads := all[name]
			reads[len(reads)-1] = append(reads[len(reads)-1], f)
			if rand.IntN(2) == 0 {
				reads = append(reads, nil)
			}
			all[name] = reads
		}
	}
	return all
}

func TestAssembler_SizesAndReads(t *testing.T) {
	const frameMax = 4096
	for _, size := range []int{0, 1, 2, frameMax - 9, frameMax - 8, frameMax - 7, 2 * (frameMax - 8), 3*(frameMax-8) + 1, 5<<20 + 3} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(i * 31 >> 3)
		}
		props := expiration("1000")
		var frames [][]byte
		for range 2 {
			frames = append(frames, frame(&protocol.BasicPublish{Exchange: "x", RoutingKey: "one"}),
				protocol.AppendHeaderFrame(nil, 1, uint64(size), props.Append(nil)))
			for rest := body; len(rest) > 0; {
				part := rest[:min(len(rest), frameMax-8)]
				rest = rest[len(part):]
				frames = append(frames, protocol.AppendBodyFrames(nil, 1, part, frameMax))
			}
		}
		for name, reads := range splits(frames) {
			r := newRig(t)
			for _, read := range reads {
				r.feed(read...)
			}
			n := 0
			for _, p := range r.posts {
				for _, m := range p.Mail.(*mail.Enqueue).Messages {
					n++
					if string(m.Exchange) != "x" || string(m.RoutingKey) != "one" || !bytes.Equal(m.Header, props.Append(nil)) ||
						!bytes.Equal(m.Body, body) || m.TTL != 1000 {
						t.Fatalf("%d bytes, %s: %q %q header %v body of %d", size, name, m.Exchange, m.RoutingKey, m.Header, len(m.Body))
					}
				}
				p.Mail.(*mail.Enqueue).Release()
			}
			if n != 2 {
				t.Fatalf("%d bytes, %s: %d messages", size, name, n)
			}
			r.balanced()
		}
	}
}

// Body frames may be of any size, also empty.
func TestAssembler_OddFrames(t *testing.T) {
	r := newRig(t)
	part := func(text string) []byte {
		return append(append([]byte{3, 0, 1, 0, 0, 0, byte(len(text))}, text...), protocol.FrameEnd)
	}
	r.feed(frame(&protocol.BasicPublish{RoutingKey: "q1"}), protocol.AppendHeaderFrame(nil, 1, 5, []byte{0, 0}),
		part(""), part("a"), part(""), part("bc"), part("de"), publish("", "q1", "f"))
	r.sent("q1: enqueue abcde f")
	r.balanced()
}
