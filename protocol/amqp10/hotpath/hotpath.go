package hotpath

import (
	"encoding/binary"

	"candlemark/protocol/amqp10"
)

// Transfer decodes a transfer into p, which aliases b; rest is the bytes behind it. If ok is false, use
// [amqp10.DecodeInto] instead.
func Transfer(b []byte, p *amqp10.Transfer) (rest []byte, ok bool) {
	r := newReader(b, amqp10.CodeTransfer)
	if !r.known {
		return nil, false
	}
	r.must()
	*p = amqp10.Transfer{}
	p.Handle, p.DeliveryID, p.DeliveryTag, p.MessageFormat, p.Settled, p.More = r.number().Value, r.number(), r.tag(), r.number(), r.flag(), r.flag()
	if r.next() != null { // rcv-settle-mode
		r.stop()
	}
	p.State.Kind, p.Resume, p.Aborted, p.Batchable = r.state(), r.flag(), r.flag(), r.flag()
	return r.end()
}

// Disposition decodes a disposition as [Transfer] decodes a transfer.
func Disposition(b []byte, p *amqp10.Disposition) (rest []byte, ok bool) {
	r := newReader(b, amqp10.CodeDisposition)
	if !r.known {
		return nil, false
	}
	*p = amqp10.Disposition{}
	r.must()
	p.Role = r.flag()
	r.must()
	p.First, p.Last, p.Settled, p.State.Kind, p.Batchable = r.number().Value, r.number(), r.flag(), r.state(), r.flag()
	return r.end()
}

// AppendTransfer appends the same frame as [amqp10.AppendFrame]. It is fast for the first transfer of a message that
// has no fields but settled and more besides the required ones.
func AppendTransfer(dst []byte, channel uint16, t *amqp10.Transfer) []byte {
	first := t.DeliveryID.Set && t.DeliveryTag != nil && t.MessageFormat.Set && len(t.DeliveryTag) <= maxTag
	if !first || t.RcvSettleMode.Set || t.State.Kind != amqp10.NoState || t.Resume || t.Aborted || t.Batchable {
		return amqp10.AppendFrame(dst, channel, t)
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 2, amqp10.FrameAMQP, uint8(channel>>8), uint8(channel), described, smallULong, amqp10.CodeTransfer, list1, 0, 0)
	list := len(dst) - 3
	dst = amqp10.AppendUInt(dst, t.Handle)
	dst = amqp10.AppendUInt(dst, t.DeliveryID.Value)
	dst = amqp10.AppendBinary(dst, t.DeliveryTag)
	dst = amqp10.AppendUInt(dst, t.MessageFormat.Value)
	dst = append(dst, yesOrNull(t.Settled), yesOrNull(t.More), null, null, null, null, null)
	dst = amqp10.CloseCompound(dst, list, 11)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// yesOrNull returns the encoding of a flag whose default is false.
func yesOrNull(flag bool) byte {
	if flag {
		return yes
	}
	return null
}

// The constructors that most clients choose [AMQP 1.0 types 1.6].
const (
	described, null     = 0x00, 0x40
	yes, no             = 0x41, 0x42
	uint0, uint1, uint4 = 0x43, 0x52, 0x70
	smallULong          = 0x53
	binary1             = 0xa0
	list0, list1, list4 = 0x45, 0xc0, 0xd0
)

// maxTag is the maximum length of a delivery tag in bytes [AMQP 1.0 transport 2.8.7].
const maxTag = 32

// reader reads the fields of a composite, and stops at an encoding that it does not handle.
type reader struct {
	b, rest []byte // the rest of the list; the bytes behind the list
	left    int    // number of fields left
	known   bool   // no unhandled encoding so far
}

func newReader(b []byte, code uint8) reader {
	if len(b) < 6 || b[0] != described || b[1] != smallULong || b[2] != code {
		return reader{}
	}
	var size, count, head int // head: number of bytes before the fields
	switch {
	case b[3] == list1:
		size, count, head = int(b[4])-1, int(b[5]), 6
	case b[3] == list4 && len(b) >= 12:
		size, count, head = int(binary.BigEndian.Uint32(b[4:]))-4, int(binary.BigEndian.Uint32(b[8:])), 12
	}
	if size <= 0 || size > len(b)-head {
		return reader{}
	}
	return reader{b: b[head : head+size], rest: b[head+size:], left: count, known: true}
}

// end returns the bytes behind the list; ok reports whether the whole list was read.
func (r *reader) end() (rest []byte, ok bool) { return r.rest, r.known && r.left == 0 && len(r.b) == 0 }

// next returns the constructor of the next field, or null if there is none or the reader has stopped.
func (r *reader) next() (code uint8) {
	if r.left == 0 || len(r.b) == 0 {
		r.known = r.known && r.left == 0
		return null
	}
	r.left--
	code = r.b[0]
	r.b = r.b[1:]
	return code
}

// stop makes the reader stop at the current field.
func (r *reader) stop() { r.b, r.left, r.known = nil, 0, false }

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.stop()
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// must stops the reader if the next field is absent.
func (r *reader) must() {
	if r.left == 0 || len(r.b) == 0 || r.b[0] == null {
		r.stop()
	}
}

func (r *reader) number() amqp10.Optional[uint32] {
	switch r.next() {
	case null:
		return amqp10.Optional[uint32]{}
	case uint0:
		return amqp10.Some(uint32(0))
	case uint1:
		if b := r.take(1); b != nil {
			return amqp10.Some(uint32(b[0]))
		}
	case uint4:
		if b := r.take(4); b != nil {
			return amqp10.Some(binary.BigEndian.Uint32(b))
		}
	}
	r.stop()
	return amqp10.Optional[uint32]{}
}

func (r *reader) flag() bool {
	switch r.next() {
	case yes:
		return true
	case no, null:
		return false
	}
	r.stop()
	return false
}

// tag reads a delivery tag.
func (r *reader) tag() []byte {
	switch r.next() {
	case null:
		return nil
	case binary1:
		if len(r.b) > 0 && r.b[0] <= maxTag {
			if b := r.take(1 + int(r.b[0])); b != nil {
				return b[1:]
			}
		}
	}
	r.stop()
	return nil
}

// state reads a delivery state without fields.
func (r *reader) state() amqp10.StateKind {
	switch r.next() {
	case null:
		return amqp10.NoState
	case described:
		if b := r.take(3); b != nil && b[0] == smallULong && b[2] == list0 {
			if kind := amqp10.StateKind(b[1]); kind == amqp10.Accepted || kind == amqp10.Released {
				return kind
			}
		}
	}
	r.stop()
	return amqp10.NoState
}
