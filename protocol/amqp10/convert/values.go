package convert

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

const urnUUID = "urn:uuid:"

// to10 returns a field value of 0-9-1 in AMQP 1.0; ok is false for values that have no type there.
func to10(v any) (converted any, ok bool) {
	switch v := v.(type) {
	case nil, bool, int8, uint8, int16, uint16, int32, uint32, int64, float32, float64, []byte:
		return v, true
	case string:
		if !utf8.ValidString(v) {
			return []byte(v), true
		}
		return v, true
	case protocol.Timestamp:
		return milliseconds(v), true
	case protocol.Array:
		list := make(amqp10.List, 0, len(v))
		for _, element := range v {
			if c, ok := to10(element); ok {
				list = append(list, c)
			}
		}
		return list, true
	case protocol.Table:
		return Map(v), true
	}
	return nil, false
}

// Map returns a table as a map with strings as keys. Fields that AMQP 1.0 has no type for are left out.
func Map(t protocol.Table) amqp10.Map {
	m := make(amqp10.Map, 0, len(t))
	for _, f := range t {
		if c, ok := to10(f.Value); ok && utf8.ValidString(f.Key) {
			m = append(m, amqp10.Entry{Key: f.Key, Value: c})
		}
	}
	return m
}

// Table returns a map as a table; ok is false if it has a key that is no text of at most 255 bytes, or a value that
// 0-9-1 has no type for.
func Table(m amqp10.Map) (t protocol.Table, ok bool) {
	t = table(m)
	return t, len(t) == len(m)
}

// scalar reports whether a field value of 0-9-1 holds no others.
func scalar(v any) bool {
	switch v.(type) {
	case protocol.Array, protocol.Table:
		return false
	}
	return true
}

// milliseconds converts a time in seconds to the ms of AMQP 1.0.
func milliseconds(t protocol.Timestamp) amqp10.Timestamp {
	return amqp10.Timestamp(min(t, math.MaxInt64/1000) * 1000)
}

// seconds returns the reverse; times before 1970 are 0.
func seconds(t amqp10.Timestamp) protocol.Timestamp { return protocol.Timestamp(max(t, 0) / 1000) }

// to091 returns a value of AMQP 1.0 as a field value of 0-9-1; ok is false for values that have no type there.
func to091(v any) (converted any, ok bool) {
	switch v := v.(type) {
	case nil, bool, int8, uint8, int16, uint16, int32, uint32, int64, []byte, string:
		return v, true
	case uint64:
		if v > math.MaxInt64 {
			return strconv.FormatUint(v, 10), true
		}
		return int64(v), true
	case float32:
		return v, finite(float64(v))
	case float64:
		return v, finite(v)
	case amqp10.Symbol:
		return string(v), true
	case amqp10.Char:
		return string(rune(v)), true
	case amqp10.Timestamp:
		return seconds(v), true
	case amqp10.UUID:
		return uuidText(v), true
	case amqp10.List:
		return array(v), true
	case amqp10.Array:
		return array(v.Values), true
	case amqp10.Map:
		return table(v), true
	case amqp10.Described:
		return to091(v.Value)
	}
	return nil, false
}

func array(values []any) protocol.Array {
	var a protocol.Array
	for _, v := range values {
		if c, ok := to091(v); ok {
			a = append(a, c)
		}
	}
	return a
}

// table returns a map as a table, without the entries that it cannot hold.
func table(m amqp10.Map) protocol.Table {
	var t protocol.Table
	for _, e := range m {
		key, named := keyText(e.Key)
		if v, ok := to091(e.Value); ok && named && len(key) <= maxShort {
			t = append(t, protocol.Field{Key: key, Value: v})
		}
	}
	return t
}

// keyText returns a key that is text.
func keyText(key any) (string, bool) {
	switch k := key.(type) {
	case string:
		return k, true
	case amqp10.Symbol:
		return string(k), true
	}
	return "", false
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// uuidText returns a uuid as 0-9-1 carries it.
func uuidText(u amqp10.UUID) string {
	h := hex.EncodeToString(u[:])
	return urnUUID + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// parseUUID returns the reverse.
func parseUUID(s string) (u amqp10.UUID, ok bool) {
	digits, ok := strings.CutPrefix(s, urnUUID)
	if !ok || len(digits) != 36 {
		return u, false
	}
	if n, err := hex.Decode(u[:], []byte(strings.ReplaceAll(digits, "-", ""))); err != nil || n != len(u) || uuidText(u)[len(urnUUID):] != strings.ToLower(digits) {
		return amqp10.UUID{}, false
	}
	return u, true
}

// to10ID returns a message or correlation id in AMQP 1.0.
func to10ID(id string) amqp10.Value {
	if u, ok := parseUUID(id); ok {
		return amqp10.AppendUUID(nil, u)
	}
	if !utf8.ValidString(id) {
		return amqp10.AppendBinary(nil, id)
	}
	return amqp10.AppendString(nil, id)
}
