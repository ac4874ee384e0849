package canonical

import (
	"encoding/binary"
	"fmt"
	"math"

	"candlemark/protocol"
)

// Void is the encoding of a field without a value.
const Void = 'V'

// Text appends the length of s, then s.
func Text(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// Value encodes a header's value so that values that a headers exchange considers equal have equal bytes, as in
// RabbitMQ: integers of all widths are one class, floats of both widths another, strings and byte arrays a third.
// Values inside tables and arrays must have the same type. A timestamp equals only a timestamp.
func Value(dst []byte, v any) []byte {
	if n, ok := protocol.Int64(v); ok {
		return Append(dst, n)
	}
	switch v := v.(type) {
	case float32:
		return Append(dst, float64(v))
	case []byte:
		return Append(dst, string(v))
	}
	return Append(dst, v)
}

// Append encodes a value with its type: the type's tag, then the value in a form of known length. Two values have equal
// bytes if and only if they have the same type and value.
func Append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, Void)
	case bool:
		if v {
			return append(dst, 't', 1)
		}
		return append(dst, 't', 0)
	case int8:
		return append(dst, 'b', byte(v))
	case uint8:
		return append(dst, 'B', v)
	case int16:
		return binary.BigEndian.AppendUint16(append(dst, 's'), uint16(v))
	case uint16:
		return binary.BigEndian.AppendUint16(append(dst, 'u'), v)
	case int32:
		return binary.BigEndian.AppendUint32(append(dst, 'I'), uint32(v))
	case uint32:
		return binary.BigEndian.AppendUint32(append(dst, 'i'), v)
	case int64:
		return binary.BigEndian.AppendUint64(append(dst, 'l'), uint64(v))
	case float32:
		return binary.BigEndian.AppendUint32(append(dst, 'f'), math.Float32bits(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, 'd'), math.Float64bits(v))
	case string:
		return Text(append(dst, 'S'), v)
	case []byte:
		return append(binary.AppendUvarint(append(dst, 'x'), uint64(len(v))), v...)
	case protocol.Timestamp:
		return binary.BigEndian.AppendUint64(append(dst, 'T'), uint64(v))
	case protocol.Decimal:
		return binary.BigEndian.AppendUint32(append(dst, 'D', v.Scale), uint32(v.Value))
	case protocol.Table:
		dst = binary.AppendUvarint(append(dst, 'F'), uint64(len(v)))
		for _, f := range v {
			dst = Append(Text(dst, f.Key), f.Value)
		}
		return dst
	case protocol.Array:
		dst = binary.AppendUvarint(append(dst, 'A'), uint64(len(v)))
		for _, e := range v {
			dst = Append(dst, e)
		}
		return dst
	}
	panic(fmt.Sprintf("exact: %T is not a field value", v))
}
