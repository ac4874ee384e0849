package amqp10

import (
	"encoding/binary"
	"math"
)

// Frame types and sizes [AMQP 1.0 transport 2.3].
const (
	FrameAMQP = 0
	FrameSASL = 1

	MinMaxFrameSize = 512 // bytes: no peer may accept less, and the limit until both have sent open
	frameHeaderSize = 8
)

// Protocol headers: the first thing that each peer sends, once for SASL and once for what comes after it [AMQP 1.0 transport 2.2, security 5.3.1].
var (
	ProtocolHeader     = [8]byte{'A', 'M', 'Q', 'P', 0, 1, 0, 0}
	SASLProtocolHeader = [8]byte{'A', 'M', 'Q', 'P', 3, 1, 0, 0}
)

// Frame is one frame as it came off the wire.
//
//	 0      4      5      6         8                  4·doff   size
//	┌──────┬──────┬──────┬─────────┬──────────────────┬────────┐
//	│ size │ doff │ type │ channel │ extended header  │ body   │
//	└──────┴──────┴──────┴─────────┴──────────────────┴────────┘
//	   4      1      1       2          (ignored)
//
//	body of type 0  │ performative │ payload, of a transfer │, or nothing: a heartbeat
//	body of type 1  │ SASL frame │
type Frame struct {
	Type    uint8
	Channel uint16 // 0 in SASL frames
	Body    []byte // aliases the buffer that was parsed
}

// ParseFrame reads the frame at the start of buf and allocates nothing. n is its whole length; n == 0 without an error means that more
// bytes are needed: need in all, which is exact once the first 8 bytes are there.
//
// maxSize is the largest frame in bytes that may come: MinMaxFrameSize at least, until open what the server takes anyway. A longer frame,
// an impossible size or data offset and an unknown type are *Error amqp:connection:framing-error: the stream must be closed.
func ParseFrame(buf []byte, maxSize uint32) (f Frame, n, need int, err error) {
	if len(buf) < frameHeaderSize {
		return Frame{}, 0, frameHeaderSize, nil
	}
	size, start := binary.BigEndian.Uint32(buf), 4*int(buf[4])
	switch {
	case size > max(maxSize, MinMaxFrameSize):
		return Frame{}, 0, 0, Errorf(FramingError, "frame of %d bytes, at most %d", size, max(maxSize, MinMaxFrameSize))
	case start < frameHeaderSize || int64(start) > int64(size):
		return Frame{}, 0, 0, Errorf(FramingError, "frame of %d bytes with data offset %d", size, buf[4])
	case buf[5] > FrameSASL:
		return Frame{}, 0, 0, Errorf(FramingError, "frame of type %d", buf[5])
	case uint64(len(buf)) < uint64(size):
		return Frame{}, 0, int(size), nil
	}
	f = Frame{Type: buf[5], Body: buf[start:size:size]}
	if f.Type == FrameAMQP {
		f.Channel = binary.BigEndian.Uint16(buf[6:])
	}
	return f, int(size), int(size), nil
}

// Code returns the descriptor of the frame's performative, for DecodeInto; false when it cannot be read, as of a heartbeat.
func (f Frame) Code() (code uint64, ok bool) {
	c := cursor{b: f.Body}
	code = c.descriptor()
	return code, c.fault == sound
}

// Decode decodes the frame's performative: a *Open to *Close, or in SASL frames a *SASLMechanisms to *SASLOutcome. payload is what follows
// it, which only a transfer may have. Errors are *Error: amqp:decode-error for bytes that are no value, or a performative that there is not
// in such frames; amqp:invalid-field for a field that lacks or is not of its type.
func (f Frame) Decode() (p Composite, payload []byte, err error) {
	code, ok := f.Code()
	if ok {
		p = performative(code)
	}
	if p == nil || (code >= CodeSASLMechanisms) != (f.Type == FrameSASL) {
		return nil, nil, Errorf(DecodeError, "no performative of a frame of type %d", f.Type)
	}
	if payload, err = DecodeInto(f.Body, p); err != nil {
		return nil, nil, err
	}
	if len(payload) > 0 && code != CodeTransfer {
		return nil, nil, Errorf(DecodeError, "%d bytes behind the performative %#x", len(payload), code)
	}
	return p, payload, nil
}

// DecodeInto decodes the composite at the start of b into p, all of whose fields are set; rest is what follows. With a *Transfer,
// *Disposition, *Flow, *Header or *Properties it allocates nothing but the rare fields (maps, the error of a rejection). Errors are as
// those of Frame.Decode. A State is read where it is a field only.
func DecodeInto(b []byte, p Composite) (rest []byte, err error) {
	f := fields{cursor: cursor{b: b}}
	f.readComposite(p)
	if f.fault != sound {
		code, _ := Frame{Body: b}.Code()
		return nil, Errorf(f.fault.condition(), "cannot decode the composite %#x", code)
	}
	return f.b, nil
}

// AppendFrame appends the frame of a performative or SASL frame.
func AppendFrame(dst []byte, channel uint16, p Composite) []byte {
	start := len(dst)
	f := fields{out: append(dst, 0, 0, 0, 0, frameHeaderSize/4, FrameAMQP, uint8(channel>>8), uint8(channel))}
	f.writeComposite(p)
	if f.out[start+frameHeaderSize+codeAt] >= CodeSASLMechanisms {
		f.out[start+5] = FrameSASL
	}
	binary.BigEndian.PutUint32(f.out[start:], uint32(len(f.out)-start))
	return f.out
}

// AppendHeartbeat appends an empty frame.
func AppendHeartbeat(dst []byte) []byte {
	return append(dst, 0, 0, 0, frameHeaderSize, frameHeaderSize/4, FrameAMQP, 0, 0)
}

// AppendTransfer appends a message as frames of at most maxSize bytes each, at least MinMaxFrameSize. The first one carries t, but for
// More, which is set as it must be; the others its handle only. payload is the message, in pieces.
func AppendTransfer(dst []byte, channel uint16, t *Transfer, maxSize uint32, payload ...[]byte) []byte {
	s := newSplitter(t, payload)
	for room := 0; !s.done; {
		dst, room = s.appendHead(dst, channel, maxSize)
		for room > 0 {
			piece := s.piece(payload, room)
			dst = append(dst, piece...)
			room -= len(piece)
		}
	}
	return dst
}

// SplitTransfer is AppendTransfer without copying the message: the frames are the slices that it appends to pieces, one after the other,
// which alias payload and heads. heads holds the beginnings of the frames.
func SplitTransfer(heads []byte, pieces [][]byte, channel uint16, t *Transfer, maxSize uint32, payload ...[]byte) ([]byte, [][]byte) {
	s := newSplitter(t, payload)
	for room := 0; !s.done; {
		start := len(heads)
		heads, room = s.appendHead(heads, channel, maxSize)
		pieces = append(pieces, heads[start:len(heads):len(heads)])
		for room > 0 {
			piece := s.piece(payload, room)
			if len(piece) > 0 {
				pieces = append(pieces, piece)
			}
			room -= len(piece)
		}
	}
	return heads, pieces
}

// splitter makes the transfers of a message.
type splitter struct {
	next     Transfer
	part, at int  // where in which piece of the payload the next frame begins
	left     int  // bytes
	done     bool // the last transfer was made
}

func newSplitter(t *Transfer, payload [][]byte) splitter {
	s := splitter{next: *t}
	for _, p := range payload {
		s.left += len(p)
	}
	return s
}

// appendHead appends frame header and transfer; the next room bytes of the payload follow it.
func (s *splitter) appendHead(dst []byte, channel uint16, maxSize uint32) (grown []byte, room int) {
	limit := int(min(max(maxSize, MinMaxFrameSize), math.MaxInt32))
	start := len(dst)
	s.next.More = false
	dst = AppendFrame(dst, channel, &s.next)
	if s.done = len(dst)-start+s.left <= limit; !s.done {
		s.next.More = true
		dst = AppendFrame(dst[:start], channel, &s.next)
	}
	room = min(s.left, max(limit-(len(dst)-start), 1))
	s.left -= room
	s.next = Transfer{Handle: s.next.Handle}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start+room))
	return dst, room
}

// piece takes at most n bytes of the payload, as many as lie together.
func (s *splitter) piece(payload [][]byte, n int) []byte {
	p := payload[s.part][s.at:]
	if len(p) <= n {
		s.part, s.at = s.part+1, 0
		return p
	}
	s.at += n
	return p[:n:n]
}
