package protocol

import (
	"encoding/binary"
	"math"
)

// maxNesting is the maximum nesting depth of tables and arrays, including the outermost.
const maxNesting = 128

// DecodeTable decodes a copy of the table in encoded, which must be exactly one table:
//
//	│ length 4 │ field … │        field  │ key 1+n │ tag 1 │ value │
//
// Values: t b B 1 byte · s u 2 · I i f 4 · l L d T 8 · D 1+4 · S x F A 4+length · V none. An empty table is nil. The error is a
// *ConnectionError 501: unknown tags, lengths that do not fit, more than 128 levels, and infinite or NaN floats
// (RabbitMQ cannot read such floats either).
func DecodeTable(encoded []byte) (Table, error) {
	c := cursor{b: encoded}
	t := c.table()
	if c.bad || len(c.b) > 0 {
		return nil, cannotDecode(encoded, 0, 0)
	}
	return t, nil
}

// LookupField returns the value of the first field named key and decodes nothing else. encoded is one table with its length word. The
// fields in front of it are checked only as far as they are walked over.
func LookupField(encoded []byte, key string) (any, bool, error) {
	c := cursor{b: encoded}
	c.b = c.long()
	for len(c.b) > 0 {
		name := c.short()
		if c.bad || string(name) != key {
			c.take(valueSize(c.b))
			continue
		}
		v := c.value(1)
		if c.bad {
			break
		}
		return v, true, nil
	}
	if c.bad {
		return nil, false, cannotDecode(encoded, 0, 0)
	}
	return nil, false, nil
}

// tableOf decodes the fields of a table at a nesting level; ok is false if they cannot be decoded.
func tableOf(b []byte, level int) (t Table, ok bool) {
	n, ok := countFields(b, level, true)
	if n == 0 {
		return nil, ok
	}
	c := cursor{b: b}
	t = make(Table, 0, n)
	for len(c.b) > 0 {
		key := string(c.short())
		t = append(t, Field{Key: key, Value: c.value(level)})
	}
	return t, !c.bad
}

// arrayOf decodes the values of an array at a nesting level; ok is false if they cannot be decoded.
func arrayOf(b []byte, level int) (a Array, ok bool) {
	n, ok := countFields(b, level, false)
	if n == 0 {
		return nil, ok
	}
	c := cursor{b: b}
	a = make(Array, 0, n)
	for len(c.b) > 0 {
		a = append(a, c.value(level))
	}
	return a, !c.bad
}

// countFields counts the fields of a table (with keys) or array, so that they are allocated once and only when all of them are
// present. The count is 0 when it is empty or broken; ok is false when it is broken.
func countFields(b []byte, level int, keys bool) (n int, ok bool) {
	c := cursor{b: b, bad: level > maxNesting}
	for len(c.b) > 0 && !c.bad {
		if keys {
			c.short()
		}
		c.take(valueSize(c.b))
		n++
	}
	if c.bad {
		return 0, false
	}
	return n, true
}

// value reads a tag and its value, in a table or array at a nesting level.
func (c *cursor) value(level int) any {
	switch c.u8() {
	case 't':
		return c.u8() != 0
	case 'b':
		return int8(c.u8())
	case 'B':
		return c.u8()
	case 's':
		return int16(c.u16())
	case 'u':
		return c.u16()
	case 'I':
		return int32(c.u32())
	case 'i':
		return c.u32()
	case 'l', 'L':
		return int64(c.u64())
	case 'f':
		f := math.Float32frombits(c.u32())
		c.bad = c.bad || !finite(float64(f))
		return f
	case 'd':
		f := math.Float64frombits(c.u64())
		c.bad = c.bad || !finite(f)
		return f
	case 'D':
		return Decimal{Scale: c.u8(), Value: int32(c.u32())}
	case 'S':
		return string(c.long())
	case 'x':
		return c.bytes()
	case 'T':
		return Timestamp(c.u64())
	case 'F':
		t, ok := tableOf(c.long(), level+1)
		c.bad = c.bad || !ok
		return t
	case 'A':
		a, ok := arrayOf(c.long(), level+1)
		c.bad = c.bad || !ok
		return a
	case 'V':
		return nil
	}
	c.bad = true
	return nil
}

// valueSize returns how many bytes the tag and value at the start of b take; more than b has when they do not fit.
func valueSize(b []byte) uint32 {
	const never = math.MaxUint32
	if len(b) == 0 {
		return never
	}
	switch b[0] {
	case 'V':
		return 1
	case 't', 'b', 'B':
		return 2
	case 's', 'u':
		return 3
	case 'I', 'i', 'f':
		return 5
	case 'D':
		return 6
	case 'l', 'L', 'd', 'T':
		return 9
	case 'S', 'x', 'F', 'A':
		if len(b) >= 5 {
			return uint32(min(5+uint64(binary.BigEndian.Uint32(b[1:])), never))
		}
	}
	return never
}

// checkFields reports whether the fields of a table, or the values of an array, can be decoded.
func checkFields(b []byte, level int, keys bool) bool {
	c := cursor{b: b, bad: level > maxNesting}
	for len(c.b) > 0 && !c.bad {
		if keys {
			c.short()
		}
		v := c.take(valueSize(c.b))
		if c.bad {
			return false
		}
		ok := true
		switch v[0] {
		case 'f':
			ok = finite(float64(math.Float32frombits(binary.BigEndian.Uint32(v[1:]))))
		case 'd':
			ok = finite(math.Float64frombits(binary.BigEndian.Uint64(v[1:])))
		case 'F', 'A':
			ok = checkFields(v[5:], level+1, v[0] == 'F')
		}
		if !ok {
			return false
		}
	}
	return !c.bad
}

// finite reports whether f is a number.
func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
