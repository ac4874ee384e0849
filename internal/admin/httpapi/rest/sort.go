package rest

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"candlemark/internal/text/jsonencode"
)

// order returns the places of items, sorted by what the view's path leads to; what has nothing there counts as 0, as in
// RabbitMQ. Without a path they stay where they are.
func order[T any](v *view, items []T) []int {
	places := make([]int, len(items))
	for i := range places {
		places[i] = i
	}
	if len(v.sort) > 0 {
		keys, known := make([]Key, len(items)), fields{}
		for i := range items {
			keys[i] = known.at(reflect.ValueOf(&items[i]), v.sort)
		}
		byKeys(v, places, keys)
	}
	return places
}

// byKeys sorts places by the keys there, and places with equal keys by number.
func byKeys(v *view, places []int, keys []Key) {
	text := cmp.Compare[string]
	if v.natural {
		text = naturally
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(keys[a].compare(&keys[b], text), cmp.Compare(a, b)) })
}

// naturally compares texts with their numbers as numbers: q2 comes before q10. Texts that differ only in leading zeros
// are compared byte by byte.
func naturally(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		m, n := number(a[i:]), number(b[j:])
		if m == "" || n == "" {
			if a[i] != b[j] {
				return cmp.Compare(a[i], b[j])
			}
			i, j = i+1, j+1
			continue
		}
		x, y := strings.TrimLeft(m, "0"), strings.TrimLeft(n, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
		i, j = i+len(m), j+len(n)
	}
	return cmp.Or(cmp.Compare(len(a)-i, len(b)-j), cmp.Compare(a, b))
}

// number returns the digits with which a text begins.
func number(s string) string {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n]
}

// NumberKey returns the key of a number.
func NumberKey(n int64) Key { return Key{number: float64(n)} }

// BoolKey returns the key of a truth.
func BoolKey(is bool) Key {
	if is {
		return Key{rank: 1, number: 1}
	}
	return Key{rank: 1}
}

// TextKey returns the key of a text.
func TextKey(s string) Key { return Key{rank: 3, text: s} }

// Key is a value of JSON as it is compared: numbers come before truths before lists and objects before texts. The zero
// value is the key of an absent value.
type Key struct {
	rank   int
	number float64 // of truths 0 and 1
	text   string  // of lists and objects their JSON
}

// longest is the number of bytes by which kept texts are compared.
const longest = 1 << 10

// short returns the key without the end of a long text, and without holding what it was taken from.
func (k Key) short() Key {
	k.text = strings.Clone(k.text[:min(len(k.text), longest)])
	return k
}

func (k *Key) compare(other *Key, text func(a, b string) int) int {
	return cmp.Or(cmp.Compare(k.rank, other.rank), cmp.Compare(k.number, other.number), text(k.text, other.text))
}

// nothing is the key where a path leads to nothing.
var NullKey Key

// keyOf returns the key of what the path leads to in a value that was read from JSON.
func keyOf(value any, path []string) Key {
	for _, key := range path {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	switch value := value.(type) {
	case nil:
		return NullKey
	case json.Number:
		n, _ := value.Float64()
		return Key{number: n}
	case bool:
		return BoolKey(value)
	case string:
		return TextKey(value)
	}
	return Key{rank: 2, text: string(jsonencode.Marshal(value))}
}

// fields are the fields of types of structs, by their names in JSON.
type fields map[reflect.Type]map[string]jsonField

type jsonField struct {
	index     []int
	omitEmpty bool
}

func (f fields) of(t reflect.Type) map[string]jsonField {
	found, known := f[t]
	if known {
		return found
	}
	found = map[string]jsonField{}
	for _, v := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(v.Tag.Get("json"), ",")
		if name == "" {
			name = v.Name
		}
		if v.IsExported() && !v.Anonymous && name != "-" {
			found[name] = jsonField{v.Index, strings.Contains(options, "omitempty")}
		}
	}
	f[t] = found
	return found
}

// encodesItself reports whether values of a type have a form of their own in JSON.
func encodesItself(t reflect.Type) bool {
	return t == reflect.TypeFor[json.Number]() || t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// at returns the key of what the path leads to in the JSON form of a value, of which no more is made than that.
func (f fields) at(v reflect.Value, path []string) Key {
	for {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() {
			return NullKey
		}
		switch {
		case encodesItself(v.Type()) || len(path) > 0 && v.Kind() != reflect.Struct:
			return keyOf(Generic(v.Interface()), path)
		case len(path) == 0 && v.CanInt():
			return Key{number: float64(v.Int())}
		case len(path) == 0 && v.CanUint():
			return Key{number: float64(v.Uint())}
		case len(path) == 0 && v.Kind() == reflect.String:
			return Key{rank: 3, text: v.String()}
		case len(path) == 0:
			return keyOf(Generic(v.Interface()), nil)
		}
		way, there := f.of(v.Type())[path[0]]
		if !there {
			return NullKey
		}
		inside, err := v.FieldByIndexErr(way.index)
		if err != nil || way.omitEmpty && (inside.IsZero() || inside.Kind() == reflect.Slice && inside.Len() == 0) {
			return NullKey
		}
		v, path = inside, path[1:]
	}
}
