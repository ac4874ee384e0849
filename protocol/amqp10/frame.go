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

// Protocol headers: the first thing that each peer sends, once for SASL and once after it [AMQP 1.0 transport 2.2,
// security 5.3.1].
var (
	ProtocolHeader     = [8]byte{'A', 'M', 'Q', 'P', 0, 1, 0, 0}
	SASLProtocolHeader = [8]byte{'A', 'M', 'Q', 'P', 3, 1, 0, 0}
)

// Frame is one frame as received.
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
// bytes are needed: need in all, which is exact once the first 8 bytes are present.
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
		return Frame{}, 0, 0, Errorf(FramingError, "frame of %d bytes exceeds the limit of %d", size, max(maxSize, MinMaxFrameSize))
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

// Code returns the descriptor of the frame's performative, for DecodeInto; false when it cannot be read, or for a
// heartbeat.
func (f Frame) Code() (code uint64, ok bool) {
	c := cursor{b: f.Body}
	code = c.descriptor()
	return code, c.fault == sound
}

// Decode decodes the frame's performative: a *Open to *Close, or in SASL frames a *SASLMechanisms to *SASLOutcome.
// payload follows it, which only a transfer may have. Errors are *Error: amqp:decode-error for bytes without a valid
// value, or a performative that such frames do not have; amqp:invalid-field for a missing field or a field of the wrong
// type.
func (f Frame) Decode() (p Composite, payload []byte, err error) {
	code, ok := f.Code()
	if ok {
		p = performative(code)
	}
	if p == nil || (code >= CodeSASLMechanisms) != (f.Type == FrameSASL) {
		return nil, nil, Errorf(DecodeError, "frame of type %d has no performative", f.Type)
	}
	if payload, err = DecodeInto(f.Body, p); err != nil {
		return nil, nil, err
	}
	if len(payload) > 0 && code != CodeTransfer {
		return nil, nil, Errorf(DecodeError, "%d bytes after the performative %#x", len(payload), code)
	}
	return p, payload, nil
}

// DecodeInto decodes the composite at the start of b into p, all of whose fields are set; rest follows it. With a
// *Transfer, *Disposition, *Flow, *Header or *Properties it allocates nothing but the rare fields (maps, the error of a
// rejection). Errors are as for Frame.Decode. A State is read only as a field.
func DecodeInto(b []byte, p Composite) (rest []byte, err error) {
	f := fields{cursor: cursor{b: b}}
	f.readComposite(p)
	if f.cursor.fault != sound {
		code, _ := Frame{Body: b}.Code()
		return nil, Errorf(f.cursor.fault.condition(), "cannot decode the composite %#x", code)
	}
	return f.cursor.b, nil
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

// AppendTransfer appends a message as frames of at most maxSize bytes each, at least MinMaxFrameSize. The first one
// carries t, with More set as needed; the others only its handle. payload is the message, in pieces.
func AppendTransfer(dst []byte, channel uint16, t *Transfer, maxSize uint32, payload ...[]byte) []byte {
	limit := int(min(max(maxSize, MinMaxFrameSize), math.MaxInt32))
	left, at := 0, 0 // bytes; where in the first piece the next frame begins
	for _, p := range payload {
		left += len(p)
	}
	next := *t
	for whole := false; !whole; {
		start := len(dst)
		next.More = false
		dst = AppendFrame(dst, channel, &next)
		if whole = len(dst)-start+left <= limit; !whole {
			next.More = true
			dst = AppendFrame(dst[:start], channel, &next)
		}
		room := min(left, max(limit-(len(dst)-start), 1))
		left -= room
		for room > 0 {
			n := min(room, len(payload[0])-at)
			dst = append(dst, payload[0][at:at+n]...)
			room -= n
			if at += n; at == len(payload[0]) {
				payload, at = payload[1:], 0
			}
		}
		next = Transfer{Handle: t.Handle}
		binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	}
	return dst
}
