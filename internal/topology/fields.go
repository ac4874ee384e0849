package topology

import (
	"encoding/binary"
	"fmt"
	"math"

	"candlemark/protocol"
)

// fields are the headers of one message in the form that conditions are compared with. Of a header that comes twice the last counts.
type fields struct {
	list []field
	byID map[string]int // name -> place in list
	buf  []byte
}

// field places one header in buf: name, tagVoid, name again, value.
type field struct {
	start, void, value, end int
}

// load takes the headers of the next message.
func (f *fields) load(t protocol.Table) {
	f.list, f.buf = f.list[:0], f.buf[:0]
	if f.byID == nil {
		f.byID = make(map[string]int, len(t))
	}
	clear(f.byID)
	for _, h := range t {
		var p field
		p.start = len(f.buf)
		f.buf = appendText(f.buf, h.Key)
		p.void = len(f.buf)
		f.buf = appendText(append(f.buf, tagVoid), h.Key)
		p.value = len(f.buf)
		f.buf = appendValue(f.buf, h.Value)
		p.end = len(f.buf)
		if i, twice := f.byID[h.Key]; twice {
			f.list[i] = p
			continue
		}
		f.byID[h.Key] = len(f.list)
		f.list = append(f.list, p)
	}
}

// present is the condition that header i is there.
func (f *fields) present(i int) []byte { return f.buf[f.list[i].start : f.list[i].void+1] }

// equal is the condition that header i is there with this value.
func (f *fields) equal(i int) []byte { return f.buf[f.list[i].void+1 : f.list[i].end] }

// isVoid says that header i has no value: nothing but its presence can be asked for.
func (f *fields) isVoid(i int) bool { return f.buf[f.list[i].value] == tagVoid }

// fulfil says whether all conditions hold.
func (f *fields) fulfil(conditions []condition) bool {
	for _, c := range conditions {
		i, found := f.byID[c.key]
		if !found || c.value != "" && c.value != string(f.buf[f.list[i].value:f.list[i].end]) {
			return false
		}
	}
	return true
}

const tagVoid = 'V'

// appendValue encodes a header's value so that values which a headers exchange takes for equal have equal bytes, as in RabbitMQ:
// integers of all widths are one class, floats of both, and strings with byte arrays; values inside tables and arrays must be of the
// same type. A timestamp equals only a timestamp.
func appendValue(dst []byte, v any) []byte {
	if n, ok := protocol.Int64(v); ok {
		return appendExact(dst, n)
	}
	switch v := v.(type) {
	case float32:
		return appendExact(dst, float64(v))
	case []byte:
		return appendExact(dst, string(v))
	}
	return appendExact(dst, v)
}

// appendExact encodes a value with its type: the type's tag, then the value in a form of known length. Equal bytes mean equal values of equal types.
func appendExact(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, tagVoid)
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
		return appendText(append(dst, 'S'), v)
	case []byte:
		return append(binary.AppendUvarint(append(dst, 'x'), uint64(len(v))), v...)
	case protocol.Timestamp:
		return binary.BigEndian.AppendUint64(append(dst, 'T'), uint64(v))
	case protocol.Decimal:
		return binary.BigEndian.AppendUint32(append(dst, 'D', v.Scale), uint32(v.Value))
	case protocol.Table:
		dst = binary.AppendUvarint(append(dst, 'F'), uint64(len(v)))
		for _, f := range v {
			dst = appendExact(appendText(dst, f.Key), f.Value)
		}
		return dst
	case protocol.Array:
		dst = binary.AppendUvarint(append(dst, 'A'), uint64(len(v)))
		for _, e := range v {
			dst = appendExact(dst, e)
		}
		return dst
	}
	panic(fmt.Sprintf("topology: %T is not a field value", v))
}
