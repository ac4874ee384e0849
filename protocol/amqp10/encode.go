package amqp10

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Encoding appends to the caller's buffer, in the smallest of the encodings. Text that is no UTF-8 is repaired, for a peer would drop
// its connection over it.

var errDeep = fmt.Errorf("amqp 1.0: more than %d levels", maxNesting)

// AppendNull appends null.
func AppendNull(dst []byte) []byte { return append(dst, uint8(TypeNull)) }

// AppendBool appends a boolean.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, codeTrue)
	}
	return append(dst, codeFalse)
}

// AppendUShort appends a ushort.
func AppendUShort(dst []byte, v uint16) []byte {
	return binary.BigEndian.AppendUint16(append(dst, uint8(TypeUShort)), v)
}

// AppendUInt appends a uint.
func AppendUInt(dst []byte, v uint32) []byte {
	switch {
	case v == 0:
		return append(dst, codeUInt0)
	case v <= math.MaxUint8:
		return append(dst, codeSmallUInt, uint8(v))
	}
	return binary.BigEndian.AppendUint32(append(dst, uint8(TypeUInt)), v)
}

// AppendULong appends a ulong.
func AppendULong(dst []byte, v uint64) []byte {
	switch {
	case v == 0:
		return append(dst, codeULong0)
	case v <= math.MaxUint8:
		return append(dst, codeSmallULong, uint8(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, uint8(TypeULong)), v)
}

// AppendInt appends an int.
func AppendInt(dst []byte, v int32) []byte {
	if v == int32(int8(v)) {
		return append(dst, codeSmallInt, uint8(v))
	}
	return binary.BigEndian.AppendUint32(append(dst, uint8(TypeInt)), uint32(v))
}

// AppendLong appends a long.
func AppendLong(dst []byte, v int64) []byte {
	if v == int64(int8(v)) {
		return append(dst, codeSmallLong, uint8(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, uint8(TypeLong)), uint64(v))
}

// AppendTimestamp appends a timestamp.
func AppendTimestamp(dst []byte, v Timestamp) []byte {
	return binary.BigEndian.AppendUint64(append(dst, uint8(TypeTimestamp)), uint64(v))
}

// AppendUUID appends a uuid.
func AppendUUID(dst []byte, v UUID) []byte { return append(append(dst, uint8(TypeUUID)), v[:]...) }

// AppendBinary appends a binary.
func AppendBinary[T string | []byte](dst []byte, v T) []byte {
	return append(appendLength(dst, TypeBinary, len(v)), v...)
}

// AppendString appends a string.
func AppendString[T string | []byte](dst []byte, v T) []byte {
	if !validUTF8(v) {
		v = T(strings.ToValidUTF8(string(v), "\uFFFD"))
	}
	return append(appendLength(dst, TypeString, len(v)), v...)
}

// AppendSymbol appends a symbol.
func AppendSymbol[T string | []byte](dst []byte, v T) []byte {
	v = symbolOf(v)
	return append(appendLength(dst, TypeSymbol, len(v)), v...)
}

func validUTF8[T string | []byte](text T) bool {
	if b, ok := any(text).([]byte); ok {
		return utf8.Valid(b)
	}
	return utf8.ValidString(string(text))
}

// symbolOf is text as a symbol may hold it.
func symbolOf[T string | []byte](text T) T {
	if ascii(text) {
		return text
	}
	return T(strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, string(text)))
}

// appendLength appends the constructor and length word of bytes or text of the type wide.
func appendLength(dst []byte, wide Type, n int) []byte {
	if n <= math.MaxUint8 {
		return append(dst, uint8(wide)-0x10, uint8(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, uint8(wide)), uint32(n))
}

// AppendDescriptor appends the beginning of a described value with one of the specification's descriptors; the value must follow.
func AppendDescriptor(dst []byte, code uint64) []byte {
	return AppendULong(append(dst, uint8(TypeDescribed)), code)
}

// OpenList begins a list: the values follow, then [CloseCompound] with start.
func OpenList(dst []byte) (grown []byte, start int) { return append(dst, codeList8, 0, 0), len(dst) }

// OpenMap begins a map: keys and values follow, then [CloseCompound] with start.
func OpenMap(dst []byte) (grown []byte, start int) { return append(dst, codeMap8, 0, 0), len(dst) }

// CloseCompound ends the list or map that begins at start; count is how many values follow there, of a map keys and values.
func CloseCompound(dst []byte, start, count int) []byte {
	if size := len(dst) - start - 2; size <= math.MaxUint8 && count <= math.MaxUint8 {
		dst[start+1], dst[start+2] = uint8(size), uint8(count)
		return dst
	}
	const narrow, wide = 3, 9 // bytes of constructor, size and count
	size := len(dst) - start - narrow
	dst = append(dst, 0, 0, 0, 0, 0, 0)
	copy(dst[start+wide:], dst[start+narrow:len(dst)-6])
	dst[start] += 0x10
	binary.BigEndian.PutUint32(dst[start+1:], uint32(size+4))
	binary.BigEndian.PutUint32(dst[start+5:], uint32(count))
	return dst
}

// Append appends a value of one of the Go types listed in types.go, a checked [Value] or a [Composite]. It fails, and
// returns dst unchanged, for values that Decode would refuse: other Go types, more than 128 levels, arrays of unlike
// values.
func Append(dst []byte, v any) ([]byte, error) {
	grown, err := appendValue(dst, v, 1)
	if err != nil {
		return dst, err
	}
	return grown, nil
}

// mustAppend is for the fields of composites, which were decoded or are made by the broker: a value that cannot be
// encoded is a programming error.
func mustAppend(dst []byte, v any) []byte {
	dst, err := Append(dst, v)
	if err != nil {
		panic(err)
	}
	return dst
}

// appendValue appends a value at a nesting level.
func appendValue(dst []byte, v any, level int) ([]byte, error) {
	if level > maxNesting {
		return dst, errDeep
	}
	switch v := v.(type) {
	case nil:
		return AppendNull(dst), nil
	case bool:
		return AppendBool(dst, v), nil
	case uint32:
		return AppendUInt(dst, v), nil
	case uint64:
		return AppendULong(dst, v), nil
	case int32:
		return AppendInt(dst, v), nil
	case int64:
		return AppendLong(dst, v), nil
	case string:
		return AppendString(dst, v), nil
	case Symbol:
		return AppendSymbol(dst, string(v)), nil
	case []byte:
		return AppendBinary(dst, v), nil
	case Value:
		return append(dst, v...), nil
	case Composite:
		f := fields{out: dst}
		f.writeComposite(v)
		return f.out, nil
	}
	return appendOther(dst, v, level)
}

// appendOther is appendValue for the types that hold other values, and for the rare ones.
func appendOther(dst []byte, v any, level int) ([]byte, error) {
	var err error
	start, count := len(dst), 0
	switch v := v.(type) {
	case Described:
		dst, err = appendValue(append(dst, uint8(TypeDescribed)), v.Descriptor, level+1)
		if err != nil {
			return dst, err
		}
		return appendValue(dst, v.Value, level+1)
	case Array:
		return appendArray(dst, v, level)
	case List:
		if len(v) == 0 {
			return append(dst, codeList0), nil
		}
		dst, _ = OpenList(dst)
		for count = 0; count < len(v) && err == nil; count++ {
			dst, err = appendValue(dst, v[count], level+1)
		}
	case Map:
		dst, _ = OpenMap(dst)
		for count = 0; count < 2*len(v) && err == nil; count++ {
			value := v[count/2].Key
			if count%2 == 1 {
				value = v[count/2].Value
			}
			dst, err = appendValue(dst, value, level+1)
		}
	default:
		grown, ok := appendFixed(dst, v)
		if !ok {
			err = fmt.Errorf("amqp 1.0: no type for %T", v)
		}
		return grown, err
	}
	if err != nil {
		return dst, err
	}
	return CloseCompound(dst, start, count), nil
}
