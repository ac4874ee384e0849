package protocol

import (
	"encoding/binary"
	"fmt"
)

// Frame types and sizes [AMQP 4.2.3].
const (
	FrameMethod    = 1
	FrameHeader    = 2
	FrameBody      = 3
	FrameHeartbeat = 8

	FrameEnd      = 0xCE // the octet that closes every frame
	FrameMinSize  = 4096 // bytes: the smallest frame_max that may be negotiated, and the limit until it is
	FrameOverhead = 8    // bytes of a frame besides its payload
)

// frameHeaderSize is type, channel and payload size.
const frameHeaderSize = 7

// ProtocolHeader is the first thing that a client sends, and the answer of a server, before it hangs up, to a header it does not know [AMQP 4.2.2].
var ProtocolHeader = [8]byte{'A', 'M', 'Q', 'P', 0, 0, 9, 1}

// Frame is one frame as received.
//
//	 0      1         3             7                  size+7  size+8
//	┌──────┬─────────┬─────────────┬──────────────────┬──────┐
//	│ type │ channel │    size     │ payload          │ 0xCE │
//	└──────┴─────────┴─────────────┴──────────────────┴──────┘
//	    1       2          4           size bytes         1
//
//	payload of a method    │ class 2 │ method 2 │ arguments …
//	payload of a header    │ class 2 │ weight 2 (0) │ body size 8 │ property flags 2 │ properties …
//	payload of a body      │ bytes of the content
//	payload of a heartbeat │ nothing
type Frame struct {
	Type    uint8
	Channel uint16
	Payload []byte // aliases the buffer that was parsed
}

// ParseFrame reads the frame at the start of buf and allocates nothing. n is its whole length; n == 0 without an error means that more
// bytes are needed: need in all, which is exact once the first 7 bytes are present.
//
// frameMax is the negotiated largest frame in bytes, 0 for no limit. Like RabbitMQ we let clients exceed it by the 8 bytes of frame
// overhead, because many count wrongly. A longer frame, a wrong end octet, an unknown type and a payload too short for its type are
// *ConnectionError 501; after the first two the stream is out of step and must be closed, after the others n is still set.
func ParseFrame(buf []byte, frameMax uint32) (f Frame, n, need int, err error) {
	if len(buf) < frameHeaderSize {
		return Frame{}, 0, FrameOverhead, nil
	}
	f = Frame{Type: buf[0], Channel: binary.BigEndian.Uint16(buf[1:])}
	size := binary.BigEndian.Uint32(buf[3:])
	if frameMax != 0 && size > frameMax {
		return Frame{}, 0, 0, ConnectionErrorf(FrameErr, "type %d, all octets = <<>>: {frame_too_large,%d,%d}",
			f.Type, size, int64(frameMax)-FrameOverhead)
	}
	need = int(size) + FrameOverhead
	if len(buf) < need {
		return Frame{}, 0, need, nil
	}
	f.Payload = buf[frameHeaderSize : need-1 : need-1]
	if end := buf[need-1]; end != FrameEnd {
		return Frame{}, 0, 0, frameError(f, "{invalid_frame_end_marker,%d}", end)
	}
	if !f.wellFormed() {
		return f, need, need, frameError(f, "unknown_frame")
	}
	return f, need, need, nil
}

// wellFormed reports whether type and payload length go together.
func (f Frame) wellFormed() bool {
	switch f.Type {
	case FrameMethod:
		return len(f.Payload) >= 4
	case FrameHeader:
		return len(f.Payload) >= contentHeaderSize
	case FrameBody:
		return true
	case FrameHeartbeat:
		return len(f.Payload) == 0
	}
	return false
}

// Unexpected returns the error for a frame that may not come now: 505 with RabbitMQ's text.
func (f Frame) Unexpected() *ConnectionError {
	return ConnectionErrorf(UnexpectedFrame, "%s", f.snippet())
}

// frameError returns 501 with the frame's first bytes, in RabbitMQ's words.
func frameError(f Frame, format string, args ...any) *ConnectionError {
	return ConnectionErrorf(FrameErr, "%s: "+format, append([]any{f.snippet()}, args...)...)
}

// snippet describes a frame by its type and its first 16 bytes.
func (f Frame) snippet() string {
	which, shown := "all", f.Payload
	if len(shown) > 16 {
		which, shown = "first 16", shown[:16]
	}
	return fmt.Sprintf("type %d, %s octets = %s", f.Type, which, term(shown, true))
}

// AppendMethodFrame appends the method frame of m.
func AppendMethodFrame(dst []byte, channel uint16, m Method) []byte {
	dst, start := openMethod(dst, channel, m.Key().Class(), m.Key().Method())
	return closeFrame(m.Append(dst), start)
}

// AppendHeaderFrame appends a content header frame of class basic. bodySize is the length of the whole body in bytes, properties the
// raw flags and property list.
func AppendHeaderFrame(dst []byte, channel uint16, bodySize uint64, properties []byte) []byte {
	dst = appendFrameHeader(dst, FrameHeader, channel, contentHeaderSize+len(properties))
	dst = binary.BigEndian.AppendUint32(dst, classBasic<<16) // class, then weight 0
	dst = binary.BigEndian.AppendUint64(dst, bodySize)
	dst = append(dst, properties...)
	return append(dst, FrameEnd)
}

// AppendBodyFrames appends body as frames of at most frameMax bytes each (0: no limit); none for an empty body [AMQP 4.2.6.2].
func AppendBodyFrames(dst []byte, channel uint16, body []byte, frameMax uint32) []byte {
	if frameMax == 0 || len(body)+FrameOverhead <= int(frameMax) { // almost always
		if len(body) == 0 {
			return dst
		}
		dst = appendFrameHeader(dst, FrameBody, channel, len(body))
		return append(append(dst, body...), FrameEnd)
	}
	return AppendBodyFramesWith(dst, channel, body, frameMax, func(dst, part []byte) []byte { return append(dst, part...) })
}

// AppendBodyFramesWith is AppendBodyFrames with the payload of each frame appended by add.
func AppendBodyFramesWith(dst []byte, channel uint16, body []byte, frameMax uint32, add func(dst, part []byte) []byte) []byte {
	limit := len(body)
	if frameMax > FrameOverhead {
		limit = min(limit, int(frameMax-FrameOverhead))
	}
	for len(body) > 0 {
		part := body[:min(limit, len(body))]
		body = body[len(part):]
		dst = appendFrameHeader(dst, FrameBody, channel, len(part))
		dst = append(add(dst, part), FrameEnd)
	}
	return dst
}

// AppendHeartbeat appends a heartbeat frame.
func AppendHeartbeat(dst []byte) []byte {
	return append(dst, FrameHeartbeat, 0, 0, 0, 0, 0, 0, FrameEnd)
}

// appendFrameHeader appends the first 7 bytes of a frame.
func appendFrameHeader(dst []byte, kind uint8, channel uint16, size int) []byte {
	return append(dst, kind, byte(channel>>8), byte(channel), byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
}

// openMethod appends the start of a method frame whose size is not known yet; start is where the frame begins.
func openMethod(dst []byte, channel, class, method uint16) (grown []byte, start int) {
	start = len(dst)
	dst = appendFrameHeader(dst, FrameMethod, channel, 0)
	return append(dst, byte(class>>8), byte(class), byte(method>>8), byte(method)), start
}

// closeFrame fills in the size of the frame that begins at start and appends its end octet.
func closeFrame(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start+3:], uint32(len(dst)-start-frameHeaderSize))
	return append(dst, FrameEnd)
}
