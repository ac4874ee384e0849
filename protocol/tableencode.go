package protocol

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendTable appends t with its length word, in the order of its fields. It fails, and returns dst unchanged, for
// values that DecodeTable would refuse: a key longer than 255 bytes, more than 128 levels, a float that is not finite,
// a Go value without a wire type.
func AppendTable(dst []byte, t Table) ([]byte, error) {
	grown, err := appendTable(dst, t, 1)
	if err != nil {
		return dst, err
	}
	return grown, nil
}

// mustAppendTable is for methods and properties, whose tables were decoded or are made by the broker: a table that
// cannot be encoded is a programming error.
func mustAppendTable(dst []byte, t Table) []byte {
	dst, err := AppendTable(dst, t)
	if err != nil {
		panic(err)
	}
	return dst
}

// appendTable appends a table at a nesting level.
func appendTable(dst []byte, t Table, level int) ([]byte, error) {
	if level > maxNesting {
		return dst, fmt.Errorf("field table: more than %d levels", maxNesting)
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	var err error
	for i := range t {
		if len(t[i].Key) > 255 {
			return dst, fmt.Errorf("field table: key of %d bytes", len(t[i].Key))
		}
		dst = appendShort(dst, t[i].Key)
		if dst, err = appendValue(dst, t[i].Value, level); err != nil {
			return dst, fmt.Errorf("%s: %w", t[i].Key, err)
		}
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, nil
}

// appendArray appends an array at a nesting level.
func appendArray(dst []byte, a Array, level int) ([]byte, error) {
	if level > maxNesting {
		return dst, fmt.Errorf("field table: more than %d levels", maxNesting)
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	var err error
	for _, v := range a {
		if dst, err = appendValue(dst, v, level); err != nil {
			return dst, err
		}
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, nil
}

// appendValue appends tag and value of a field in a table or array at a nesting level.
func appendValue(dst []byte, v any, level int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, 'V'), nil
	case bool:
		return append(dst, 't', octet(v)), nil
	case int8:
		return append(dst, 'b', byte(v)), nil
	case uint8:
		return append(dst, 'B', v), nil
	case int16:
		return appendU16(append(dst, 's'), uint16(v)), nil
	case uint16:
		return appendU16(append(dst, 'u'), v), nil
	case int32:
		return appendU32(append(dst, 'I'), uint32(v)), nil
	case uint32:
		return appendU32(append(dst, 'i'), v), nil
	case int64:
		return appendU64(append(dst, 'l'), uint64(v)), nil
	case float32:
		return appendU32(append(dst, 'f'), math.Float32bits(v)), checkFinite(float64(v))
	case float64:
		return appendU64(append(dst, 'd'), math.Float64bits(v)), checkFinite(v)
	case Decimal:
		return appendU32(append(dst, 'D', v.Scale), uint32(v.Value)), nil
	case string:
		return appendLong(append(dst, 'S'), v), nil
	case []byte:
		return appendLong(append(dst, 'x'), v), nil
	case Timestamp:
		return appendU64(append(dst, 'T'), uint64(v)), nil
	case Table:
		return appendTable(append(dst, 'F'), v, level+1)
	case Array:
		return appendArray(append(dst, 'A'), v, level+1)
	}
	return dst, fmt.Errorf("field table: no wire type for %T", v)
}

// checkFinite refuses floats that DecodeTable refuses.
func checkFinite(f float64) error {
	if !finite(f) {
		return fmt.Errorf("field table: %v is not finite", f)
	}
	return nil
}
