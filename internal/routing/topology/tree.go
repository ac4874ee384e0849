package topology

import (
	"iter"
	"slices"
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// Most trees are small (the queues of one binding key, the words at one level), where a sorted slice is smaller and
// faster than a radix tree. A tree becomes a radix tree above maxFew entries and a slice again at minFew, which differ
// so that it does not flap.
const (
	maxFew = 16
	minFew = 8
)

// tree is a persistent map from names to values, in the order of their bytes. The zero value is empty. with and without
// do not change the receiver and cost O(log n).
type tree[V any] struct {
	few  []entry[V]      // sorted; the form of a small tree, when many is nil
	many *iradix.Tree[V] // the form of a large one
}

// entry is one name and its value.
type entry[V any] struct {
	key   string
	value V
}

// len returns the number of entries.
func (t tree[V]) len() int {
	if t.many != nil {
		return t.many.Len()
	}
	return len(t.few)
}

// identity is the same for t and copies of it, and another one for any other tree. t is not empty.
func (t *tree[V]) identity() any {
	if t.many != nil {
		return t.many
	}
	return &t.few[0]
}

// get finds a value without allocating.
func (t *tree[V]) get(key []byte) (V, bool) {
	if t.many != nil {
		return t.many.Root().Get(key)
	}
	low, high := 0, len(t.few)
	for low < high {
		mid := int(uint(low+high) >> 1)
		switch k := t.few[mid].key; {
		case k == string(key):
			return t.few[mid].value, true
		case k < string(key):
			low = mid + 1
		default:
			high = mid
		}
	}
	var none V
	return none, false
}

// find returns the position of key in few, or where it would be inserted.
func (t tree[V]) find(key string) (int, bool) {
	return slices.BinarySearchFunc(t.few, key, func(e entry[V], key string) int { return strings.Compare(e.key, key) })
}

// with returns t with value under key, which replaces an earlier value.
func (t tree[V]) with(key string, value V) tree[V] {
	if t.many != nil {
		many, _, _ := t.many.Insert([]byte(key), value)
		return tree[V]{many: many}
	}
	at, found := t.find(key)
	if found {
		few := slices.Clone(t.few)
		few[at].value = value
		return tree[V]{few: few}
	}
	if len(t.few) == maxFew {
		batch := iradix.New[V]().Txn()
		for _, e := range t.few {
			batch.Insert([]byte(e.key), e.value)
		}
		batch.Insert([]byte(key), value)
		return tree[V]{many: batch.CommitOnly()}
	}
	few := make([]entry[V], 0, len(t.few)+1)
	few = append(few, t.few[:at]...)
	few = append(few, entry[V]{key, value})
	return tree[V]{few: append(few, t.few[at:]...)}
}

// without returns t without the entry of that key; found reports whether it existed.
func (t tree[V]) without(key string) (_ tree[V], found bool) {
	if t.many == nil {
		at, found := t.find(key)
		if !found {
			return t, false
		}
		few := make([]entry[V], 0, len(t.few)-1)
		return tree[V]{few: append(append(few, t.few[:at]...), t.few[at+1:]...)}, true
	}
	many, _, found := t.many.Delete([]byte(key))
	if !found {
		return t, false
	}
	if many.Len() > minFew {
		return tree[V]{many: many}, true
	}
	few := make([]entry[V], 0, many.Len())
	many.Root().Walk(func(k []byte, v V) bool {
		few = append(few, entry[V]{string(k), v})
		return false
	})
	return tree[V]{few: few}, true
}

// under yields the values whose key begins with prefix, in the order of their keys.
func (t tree[V]) under(prefix string) iter.Seq[V] {
	return func(yield func(V) bool) {
		if t.many != nil {
			t.many.Root().WalkPrefix([]byte(prefix), func(_ []byte, v V) bool { return !yield(v) })
			return
		}
		from, _ := t.find(prefix)
		for _, e := range t.few[from:] {
			if !strings.HasPrefix(e.key, prefix) || !yield(e.value) {
				return
			}
		}
	}
}
