package protocol

import (
	"encoding/binary"
	"unicode/utf8"
)

// cursor reads values off the front of b. Its errors stick: after the first one it returns zero values, so that a decoder can read all
// its fields and ask once at the end. Nothing is allocated before its length has been checked.
type cursor struct {
	b       []byte
	bad     bool // ran out of bytes, or met a value that cannot be
	badUTF8 bool // a short string was not UTF-8 (DEC-8)
}

// take returns the next n bytes, which alias b, or nil if there are fewer.
func (c *cursor) take(n uint32) []byte {
	if c.bad || uint64(n) > uint64(len(c.b)) {
		c.bad, c.b = true, nil
		return nil
	}
	taken := c.b[:n:n]
	c.b = c.b[n:]
	return taken
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// short returns a short string without looking at its characters.
func (c *cursor) short() []byte { return c.take(uint32(c.u8())) }

// name returns a copy of a short string, which must be UTF-8 (DEC-8).
func (c *cursor) name() string {
	b := c.short()
	if !utf8.Valid(b) {
		c.badUTF8 = true
	}
	return string(b)
}

// long returns a long string, which aliases b.
func (c *cursor) long() []byte { return c.take(c.u32()) }

// bytes returns a copy of a long string, never nil.
func (c *cursor) bytes() []byte { return append([]byte{}, c.long()...) }

// table returns a copy of a field table with its length word.
func (c *cursor) table() Table {
	t, ok := tableOf(c.long(), 1)
	c.bad = c.bad || !ok
	return t
}

// bit reports whether bit n of octet b is set; consecutive bit arguments share an octet, first one lowest [AMQP
// 4.2.5.2].
func bit(b uint8, n int) bool { return b>>n&1 == 1 }

// octet packs bit arguments into an octet.
func octet(values ...bool) (b uint8) {
	for i, v := range values {
		if v {
			b |= 1 << i
		}
	}
	return b
}

// appendShort appends a short string, cut to the 255 bytes that one can hold.
func appendShort[T ~string | ~[]byte](dst []byte, s T) []byte {
	if len(s) > maxReplyText {
		s = T(cutString(string(s), maxReplyText))
	}
	return append(append(dst, byte(len(s))), s...)
}

// appendLong appends a long string.
func appendLong[T ~string | ~[]byte](dst []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendU16 appends a short integer.
func appendU16(dst []byte, v uint16) []byte { return binary.BigEndian.AppendUint16(dst, v) }

// appendU32 appends a long integer.
func appendU32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }

// appendU64 appends a long long integer.
func appendU64(dst []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(dst, v) }
