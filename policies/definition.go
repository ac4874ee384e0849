package policies

import (
	"cmp"
	"encoding/json"
	"slices"

	"candlemark/internal/text/jsonencode"
)

// Definition is the object in a policy's "definition": keys in byte order, each
// once. It is never changed after parsing. Values are nil, bool, string,
// json.Number (numbers keep their exact text), []any, or a nested Definition.
type Definition []Entry

// Entry is one key of a Definition with its value.
type Entry struct {
	Key   string
	Value any
}

// ParseDefinition reads the definition given on a command line. The error is a *BodyError whose Reason is rabbitmqctl's
// text (POL-18), or a *ValidationError when the text is JSON but not an object.
func ParseDefinition(text []byte) (Definition, error) {
	v, err := decodeJSON(text)
	if err != nil {
		return nil, &BodyError{Reason: "Could not parse JSON document: " + jsonReason(text, err)}
	}
	d, ok := v.(Definition)
	if !ok {
		return nil, &ValidationError{Text: "definition must be a dictionary: " + jsonTerm(v)}
	}
	if !inRange(d) {
		return nil, &ValidationError{Text: "number out of range: an integer has at most 309 digits"}
	}
	return d, nil
}

// Get returns the value of key.
func (d Definition) Get(key string) (any, bool) {
	i, found := slices.BinarySearchFunc(d, key, func(e Entry, key string) int { return cmp.Compare(e.Key, key) })
	if !found {
		return nil, false
	}
	return d[i].Value, true
}

// Equal reports whether both hold the same keys with the same values; 1 and 1.0 differ.
func (d Definition) Equal(other Definition) bool {
	return slices.EqualFunc(d, other, func(a, b Entry) bool { return a.Key == b.Key && EqualValues(a.Value, b.Value) })
}

// EqualValues reports whether two JSON values, as in a Definition, are the same; 1 and 1.0 differ.
func EqualValues(a, b any) bool { return string(appendJSON(nil, a)) == string(appendJSON(nil, b)) }

// String returns the definition as compact JSON, the form of rabbitmqctl's lists (POL-17).
func (d Definition) String() string { return string(appendJSON(nil, d)) }

// MarshalJSON implements json.Marshaler: compact, keys in byte order, numbers
// as they were given (POL-13).
func (d Definition) MarshalJSON() ([]byte, error) { return appendJSON(nil, d), nil }

// ForRabbitMQ returns the settings that RabbitMQ knows; d itself if these are all. RabbitMQ refuses a policy with any other.
func (d Definition) ForRabbitMQ() Definition {
	if !slices.ContainsFunc(d, isOwn) {
		return d
	}
	return slices.DeleteFunc(slices.Clone(d), isOwn)
}

func isOwn(e Entry) bool {
	k := byName[e.Key]
	return k != nil && k.own
}

func (d Definition) sort() {
	slices.SortFunc(d, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
}

// appendJSON appends v, a value as described in json.go, in compact form.
func appendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case Definition:
		dst = append(dst, '{')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(append(appendJSON(dst, e.Key), ':'), e.Value)
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, item)
		}
		return append(dst, ']')
	case json.Number:
		return append(dst, v...)
	case string:
		return jsonencode.Append(dst, v)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	default:
		return append(dst, "null"...)
	}
}
