package amqp10

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

var errUnlike = errors.New("amqp 1.0: the values of an array are not of its type")

// appendArray appends an array at a nesting level. Its values are first encoded one by one, and then lose the parts
// that they share: descriptors and constructor.
func appendArray(dst []byte, a Array, level int) ([]byte, error) {
	if typeOf[a.Of] != a.Of || a.Of == TypeDescribed || a.Of == TypeNone {
		return dst, errUnlike
	}
	var values []byte
	for _, v := range a.Values {
		var err error
		if values, err = appendValue(values, v, level+1); err != nil {
			return dst, err
		}
	}
	shared, code := descriptorsOf(values), uint8(a.Of)
	if code>>4 == 0xb {
		code -= 0x10 // of bytes and text, the small encoding if it is enough for all
	}
	for c := (cursor{b: values}); len(c.b) > 0; {
		v, same := bytes.CutPrefix(c.next(), shared)
		if !same || Value(v).Type() != a.Of {
			return dst, errUnlike
		}
		if v[0] == uint8(a.Of) {
			code = v[0]
		}
	}
	start := len(dst)
	dst = append(append(append(dst, codeArray8, 0, 0), shared...), code)
	for c := (cursor{b: values}); len(c.b) > 0; {
		dst = appendElement(dst, code, c.next()[len(shared):])
	}
	return CloseCompound(dst, start, len(a.Values)), nil
}

// descriptorsOf returns the descriptors at the start of a checked value.
func descriptorsOf(b []byte) []byte {
	n := 0
	for n < len(b) && b[n] == uint8(TypeDescribed) {
		n += 1 + sizeOf(b[n+1:])
	}
	return b[:n]
}

// appendElement appends a value as an element of an array with the given constructor, which is the value's or a larger
// one.
func appendElement(dst []byte, code uint8, v Value) []byte {
	p := v.payload()
	switch code >> 4 {
	case 0x4:
		return dst
	case 0xa:
		return append(append(dst, uint8(len(p))), p...)
	case 0xb:
		return append(binary.BigEndian.AppendUint32(dst, uint32(len(p))), p...)
	case 0xd, 0xf:
		count := uint32(0)
		switch {
		case v[0]>>4 == code>>4:
			count, p = binary.BigEndian.Uint32(p), p[4:]
		case v[0] != codeList0:
			count, p = uint32(p[0]), p[1:]
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(p)+4))
		return append(binary.BigEndian.AppendUint32(dst, count), p...)
	}
	if v.Type() == TypeBool {
		return append(dst, uint8(number(v[0], p)))
	}
	fill := uint8(0)
	if v[0] == codeSmallInt || v[0] == codeSmallLong {
		fill = uint8(signed(p) >> 63)
	}
	for range 1<<(code>>4-5) - len(p) {
		dst = append(dst, fill)
	}
	return append(dst, p...)
}

// appendFixed appends a value of a type that has one encoding of a fixed length; ok is false for other Go types.
func appendFixed(dst []byte, v any) (grown []byte, ok bool) {
	switch v := v.(type) {
	case uint8:
		return append(dst, uint8(TypeUByte), v), true
	case int8:
		return append(dst, uint8(TypeByte), uint8(v)), true
	case uint16:
		return AppendUShort(dst, v), true
	case int16:
		return binary.BigEndian.AppendUint16(append(dst, uint8(TypeShort)), uint16(v)), true
	case Char:
		return binary.BigEndian.AppendUint32(append(dst, uint8(TypeChar)), uint32(v)), true
	case float32:
		return binary.BigEndian.AppendUint32(append(dst, uint8(TypeFloat)), math.Float32bits(v)), true
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, uint8(TypeDouble)), math.Float64bits(v)), true
	case Timestamp:
		return AppendTimestamp(dst, v), true
	case UUID:
		return AppendUUID(dst, v), true
	case Decimal32:
		return append(append(dst, uint8(TypeDecimal32)), v[:]...), true
	case Decimal64:
		return append(append(dst, uint8(TypeDecimal64)), v[:]...), true
	case Decimal128:
		return append(append(dst, uint8(TypeDecimal128)), v[:]...), true
	}
	return dst, false
}
