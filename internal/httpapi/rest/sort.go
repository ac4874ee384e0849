package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"candlemark/internal/plainjson"
)

// sorted orders items by what the path leads to; what has nothing there counts
// as 0, as in RabbitMQ.
func sorted[T any](items []T, path []string) []T {
	type keyed struct {
		key  any
		item T
	}
	all := make([]keyed, len(items))
	for i, item := range items {
		all[i] = keyed{at(Generic(item), path), item}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return compare(a.key, b.key) })
	for i := range all {
		items[i] = all[i].item
	}
	return items
}

func at(value any, path []string) any {
	for _, key := range path {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	if value == nil {
		return json.Number("0")
	}
	return value
}

// compare orders numbers before truths before lists and objects before texts.
func compare(a, b any) int {
	rank := func(v any) int {
		switch v.(type) {
		case json.Number:
			return 0
		case bool:
			return 1
		case string:
			return 3
		}
		return 2
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case json.Number:
		x, _ := a.Float64()
		y, _ := b.(json.Number).Float64()
		return cmp.Compare(x, y)
	case bool:
		if a == b.(bool) {
			return 0
		}
		return map[bool]int{false: -1, true: 1}[a]
	case string:
		return cmp.Compare(a, b.(string))
	}
	return bytes.Compare(plainjson.Marshal(a), plainjson.Marshal(b))
}
