package protocol

import (
	"reflect"
	"slices"
)

// Table is a field table; order and duplicate keys are kept. The Go type of a value determines its wire tag, so that
// every value is sent as it was received:
//
//	t bool     b int8   B uint8   s int16   u uint16   I int32   i uint32   l int64 (L is read as l)
//	f float32  d float64  D Decimal  S string  x []byte  T Timestamp  F Table  A Array  V nil
//
// A table may be shared freely and is therefore immutable; Set and Delete return another one.
type Table []Field

// Field is one entry of a table. Key has at most 255 bytes.
type Field struct {
	Key   string
	Value any // one of the Go types listed at Table
}

// Array is an array of field values, each of the Go types listed at Table.
type Array []any

// Timestamp is a time in seconds since 1970-01-01 UTC.
type Timestamp uint64

// Decimal is Value divided by 10 to the power of Scale.
type Decimal struct {
	Scale uint8
	Value int32
}

// Get returns the value of the first field named key.
func (t Table) Get(key string) (any, bool) {
	for i := range t {
		if t[i].Key == key {
			return t[i].Value, true
		}
	}
	return nil, false
}

// Set returns a copy of t in which the first field named key holds v; the field is added at the end when there is none.
func (t Table) Set(key string, v any) Table {
	for i := range t {
		if t[i].Key == key {
			changed := slices.Clone(t)
			changed[i].Value = v
			return changed
		}
	}
	grown := make(Table, len(t), len(t)+1)
	copy(grown, t)
	return append(grown, Field{Key: key, Value: v})
}

// Delete returns t without the fields named key; t itself when there are none.
func (t Table) Delete(key string) Table {
	if _, ok := t.Get(key); !ok {
		return t
	}
	return slices.DeleteFunc(slices.Clone(t), func(f Field) bool { return f.Key == key })
}

// Equal reports whether t and u have the same fields in the same order, with values of the same types.
func (t Table) Equal(u Table) bool {
	return slices.EqualFunc(t, u, func(a, b Field) bool { return a.Key == b.Key && equal(a.Value, b.Value) })
}

func equal(a, b any) bool {
	switch a.(type) {
	case bool, string, int8, uint8, int16, uint16, int32, uint32, int64, float32, float64, Timestamp:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// TypeName returns the name that RabbitMQ gives the type of a field value in its reply texts (ERR-5); "undefined" for a Go value that
// has no wire type.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "void"
	case bool:
		return "bool"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64:
		return "long"
	case float32:
		return "float"
	case float64:
		return "double"
	case Decimal:
		return "decimal"
	case string:
		return "longstr"
	case []byte:
		return "binary"
	case Timestamp:
		return "timestamp"
	case Table:
		return "table"
	case Array:
		return "array"
	}
	return "undefined"
}

// Int64 returns the value of a field of one of the seven integer types; false for every other type, timestamps included (TTL-1).
func Int64(v any) (int64, bool) {
	switch n := v.(type) {
	case int8:
		return int64(n), true
	case uint8:
		return int64(n), true
	case int16:
		return int64(n), true
	case uint16:
		return int64(n), true
	case int32:
		return int64(n), true
	case uint32:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}
