package rest

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"candlemark/internal/plainjson"
)

// order are the places of items, sorted by what the path leads to; what has nothing
// there counts as 0, as in RabbitMQ. Without a path they stay where they are.
func order[T any](items []T, path []string) []int {
	places := make([]int, len(items))
	for i := range places {
		places[i] = i
	}
	if len(path) > 0 {
		keys, known := make([]sortKey, len(items)), fields{}
		for i := range items {
			keys[i] = known.at(reflect.ValueOf(&items[i]), path)
		}
		slices.SortStableFunc(places, func(a, b int) int { return keys[a].compare(&keys[b]) })
	}
	return places
}

// sortKey is a value of JSON as it is compared: numbers come before truths before lists and objects before texts.
type sortKey struct {
	rank   int
	number float64 // of truths 0 and 1
	text   string  // of lists and objects their JSON
}

func (k *sortKey) compare(other *sortKey) int {
	return cmp.Or(cmp.Compare(k.rank, other.rank), cmp.Compare(k.number, other.number), cmp.Compare(k.text, other.text))
}

// nothing is the key where a path leads to nothing.
var nothing sortKey

// keyOf is the key of what the path leads to in a value that was read from JSON.
func keyOf(value any, path []string) sortKey {
	for _, key := range path {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	switch value := value.(type) {
	case nil:
		return nothing
	case json.Number:
		n, _ := value.Float64()
		return sortKey{number: n}
	case bool:
		if value {
			return sortKey{rank: 1, number: 1}
		}
		return sortKey{rank: 1}
	case string:
		return sortKey{rank: 3, text: value}
	}
	return sortKey{rank: 2, text: string(plainjson.Marshal(value))}
}

// fields are those of types of structs, by their names in JSON.
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

// encodesItself tells whether values of a type have a form of their own in JSON.
func encodesItself(t reflect.Type) bool {
	return t == reflect.TypeFor[json.Number]() || t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// at is the key of what the path leads to in the JSON form of a value, of which no more is made than that.
func (f fields) at(v reflect.Value, path []string) sortKey {
	for {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() {
			return nothing
		}
		switch {
		case encodesItself(v.Type()) || len(path) > 0 && v.Kind() != reflect.Struct:
			return keyOf(Generic(v.Interface()), path)
		case len(path) == 0 && v.CanInt():
			return sortKey{number: float64(v.Int())}
		case len(path) == 0 && v.CanUint():
			return sortKey{number: float64(v.Uint())}
		case len(path) == 0 && v.Kind() == reflect.String:
			return sortKey{rank: 3, text: v.String()}
		case len(path) == 0:
			return keyOf(Generic(v.Interface()), nil)
		}
		way, there := f.of(v.Type())[path[0]]
		if !there {
			return nothing
		}
		inside, err := v.FieldByIndexErr(way.index)
		if err != nil || way.omitEmpty && (inside.IsZero() || inside.Kind() == reflect.Slice && inside.Len() == 0) {
			return nothing
		}
		v, path = inside, path[1:]
	}
}
