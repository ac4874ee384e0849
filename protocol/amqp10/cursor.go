package amqp10

import (
	"encoding/binary"
	"unicode/utf8"
)

const (
	maxNesting = 128  // lists, maps, arrays and descriptions inside each other, the outermost included
	maxEmpties = 1024 // elements of arrays within one value that take no bytes, of which a few bytes could claim billions
)

// cursor reads values off the front of b. Its fault sticks: after the first one it returns zero values, so that a decoder can read all
// its fields and ask once at the end. Nothing is allocated before its length has been checked.
type cursor struct {
	b       []byte
	empties uint32 // elements without bytes so far
	fault   fault
}

// fail stops the cursor; the first cause counts.
func (c *cursor) fail(cause fault) {
	if c.fault == sound {
		c.fault = cause
	}
	c.b = nil
}

// take returns the next n bytes, which alias b, or nil if there are fewer.
func (c *cursor) take(n uint32) []byte {
	if c.fault != sound || uint64(n) > uint64(len(c.b)) {
		c.fail(malformed)
		return nil
	}
	taken := c.b[:n:n]
	c.b = c.b[n:]
	return taken
}

func (c *cursor) u8() uint8 {
	if len(c.b) == 0 {
		c.fail(malformed)
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// constructor reads a constructor, which must be of type want; TypeNone accepts any valid one.
func (c *cursor) constructor(want Type) (code uint8) {
	code = c.u8()
	switch t := typeOf[code]; {
	case t == TypeNone:
		c.fail(malformed)
	case want != TypeNone && t != want:
		c.fail(mismatch)
	}
	return code
}

// payload takes the bytes that follow a constructor, without their length word. The high half of a constructor
// determines their length.
func (c *cursor) payload(code uint8) []byte {
	switch code >> 4 {
	case 0x4:
		return c.take(0)
	case 0x5, 0x6, 0x7, 0x8, 0x9:
		return c.take(1 << (code>>4 - 5))
	case 0xa, 0xc, 0xe:
		return c.take(uint32(c.u8()))
	case 0xb, 0xd, 0xf:
		return c.take(c.u32())
	}
	c.fail(malformed)
	return nil
}

// scalar takes the bytes of a value that holds no others, and checks them.
func (c *cursor) scalar(code uint8) []byte {
	p := c.payload(code)
	ok := true
	switch code {
	case uint8(TypeBool):
		ok = len(p) == 1 && p[0] <= 1
	case uint8(TypeChar):
		ok = len(p) == 4 && p[0] == 0 && utf8.ValidRune(rune(binary.BigEndian.Uint32(p)))
	case uint8(TypeString), codeString8:
		ok = utf8.Valid(p)
	case uint8(TypeSymbol), codeSymbol8:
		ok = ascii(p)
	}
	if !ok {
		c.fail(malformed)
		return nil
	}
	return p
}

func ascii[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// number returns the number in the payload of a constructor; codeTrue is 1.
func number(code uint8, p []byte) uint64 {
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(p))
	case 4:
		return uint64(binary.BigEndian.Uint32(p))
	case 8:
		return binary.BigEndian.Uint64(p)
	}
	if code == codeTrue {
		return 1
	}
	return 0
}

// signed is number with a sign.
func signed(p []byte) int64 {
	unused := 64 - 8*len(p)
	return int64(number(0, p)<<unused) >> unused
}

// unsigned reads a value of an unsigned type, or a bool as 0 or 1.
func (c *cursor) unsigned(want Type) uint64 {
	code := c.constructor(want)
	if c.fault != sound {
		return 0
	}
	return number(code, c.scalar(code))
}

// bytes reads a value of a type that is bytes or text, which aliases b.
func (c *cursor) bytes(want Type) []byte {
	code := c.constructor(want)
	if c.fault != sound {
		return nil
	}
	return c.scalar(code)
}

// enter narrows the cursor to the contents of a list, map or array whose constructor was read. leave wants rest.
func (c *cursor) enter(code uint8) (count uint32, rest []byte) {
	if code == codeList0 {
		rest, c.b = c.b, c.b[:0]
		return 0, rest
	}
	inside := c.payload(code)
	rest, c.b = c.b, inside
	if code>>4&1 == 0 {
		count = uint32(c.u8())
	} else {
		count = c.u32()
	}
	if typeOf[code] != TypeArray && uint64(count) > uint64(len(c.b)) || typeOf[code] == TypeMap && count%2 != 0 {
		c.fail(malformed)
	}
	if c.fault != sound {
		return 0, nil
	}
	return count, rest
}

// leave widens the cursor to the bytes that follow; everything inside must have been read.
func (c *cursor) leave(rest []byte) {
	if c.fault == sound && len(c.b) > 0 {
		c.fail(malformed)
	}
	if c.fault == sound {
		c.b = rest
	}
}

// elements checks how many elements an array may have. each is false for elements without bytes, which all are the same.
func (c *cursor) elements(code uint8, count uint32) (each bool) {
	if code>>4 == 4 {
		if count > maxEmpties-c.empties {
			c.fail(malformed)
			return false
		}
		c.empties += count
		return false
	}
	if uint64(count) > uint64(len(c.b)) {
		c.fail(malformed)
	}
	return c.fault == sound
}

// check reads and checks a value with all nested ones, and keeps nothing. level is its nesting level, 1 for the
// outermost.
func (c *cursor) check(level int) { c.checkRest(c.constructor(TypeNone), level) }

// checkRest is check after the constructor.
func (c *cursor) checkRest(code uint8, level int) {
	if level > maxNesting {
		c.fail(malformed)
	}
	if c.fault != sound {
		return
	}
	switch typeOf[code] {
	case TypeDescribed:
		c.check(level + 1)
		c.check(level + 1)
	case TypeList, TypeMap:
		count, rest := c.enter(code)
		for ; count > 0 && c.fault == sound; count-- {
			c.check(level + 1)
		}
		c.leave(rest)
	case TypeArray:
		count, rest := c.enter(code)
		element := c.constructor(TypeNone)
		for ; element == uint8(TypeDescribed) && c.fault == sound; element = c.constructor(TypeNone) {
			level++
			c.check(level + 1)
		}
		if c.fault == sound && c.elements(element, count) {
			for ; count > 0 && c.fault == sound; count-- {
				c.checkRest(element, level+1)
			}
		}
		c.leave(rest)
	default:
		c.scalar(code)
	}
}

// value takes a checked value, which aliases b.
func (c *cursor) value() Value {
	before := c.b
	c.check(1)
	if c.fault != sound {
		return nil
	}
	n := len(before) - len(c.b)
	return Value(before[:n:n])
}
