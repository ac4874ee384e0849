package names

import (
	"iter"
	"strings"
	"unsafe"

	"github.com/tidwall/btree"
)

// degree limits a node to 31 names. A change copies one node of each level.
const degree = 16

// Map is an immutable map. The zero value is empty and ready to use.
type Map[V any] struct{ tree *btree.Map[string, V] }

// Len returns the number of names.
func (m *Map[V]) Len() int {
	if m.tree == nil {
		return 0
	}
	return m.tree.Len()
}

// Get returns the value of a name. It does not allocate.
func (m *Map[V]) Get(name []byte) (value V, found bool) {
	if m.tree == nil {
		return value, false
	}
	return m.tree.Get(unsafe.String(unsafe.SliceData(name), len(name))) // the tree does not retain it
}

// With returns the map with a value for a name, which replaces an earlier one.
func (m Map[V]) With(name string, value V) Map[V] {
	next := m.copied()
	next.tree.Set(name, value)
	return next
}

// Without returns the map without a name; found reports whether the name was in it.
func (m Map[V]) Without(name string) (_ Map[V], found bool) {
	if _, found = m.Get([]byte(name)); !found {
		return m, false
	}
	next := m.copied()
	next.tree.Delete(name)
	return next, true
}

// copied returns a copy that shares all nodes until they are changed.
func (m Map[V]) copied() Map[V] {
	if m.tree == nil {
		return Map[V]{btree.NewMap[string, V](degree)}
	}
	return Map[V]{m.tree.Copy()}
}

// Under yields the values whose names begin with prefix, in the order of the names.
func (m *Map[V]) Under(prefix string) iter.Seq[V] {
	return func(yield func(V) bool) {
		if m.tree == nil {
			return
		}
		m.tree.Ascend(prefix, func(name string, value V) bool {
			return strings.HasPrefix(name, prefix) && yield(value)
		})
	}
}
