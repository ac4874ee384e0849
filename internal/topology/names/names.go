package names

import (
	"iter"
	"slices"
	"strings"
)

// most is how many names, or nodes, a node has at most; those with fewer than least are joined with a neighbour.
const (
	most  = 32
	least = 8
)

// Map is one state of the names. The zero value is empty and ready to use.
type Map[V any] struct {
	root  *node[V] // nil while there are none
	count int
}

// node has names and their values or, above those, nodes and the first name of each.
type node[V any] struct {
	names  []string
	common int        // how many bytes all names begin with alike
	heads  []uint64   // of what is behind those: most names are told apart without looking at them
	values []V        // of a leaf
	below  []*node[V] // of others
}

// Len counts the names.
func (m *Map[V]) Len() int { return m.count }

// Get finds a value. It does not allocate.
func (m *Map[V]) Get(name []byte) (value V, found bool) {
	n := m.root
	for n != nil && n.below != nil {
		n = n.below[max(n.position(string(name))-1, 0)]
	}
	if n != nil {
		if i := n.position(string(name)); i > 0 && n.names[i-1] == string(name) {
			return n.values[i-1], true
		}
	}
	return value, false
}

// position is behind the last name that is not above that one.
func (n *node[V]) position(name string) int {
	if len(name) < n.common || name[:n.common] != n.names[0][:n.common] {
		if name < n.names[0] {
			return 0
		}
		return len(n.names)
	}
	head := headOf(name[n.common:])
	low, high := 0, len(n.heads)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if h := n.heads[mid]; h < head || h == head && n.names[mid] <= name {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// headOf has the first eight bytes of a name as a number that is in the order of names.
func headOf(name string) (head uint64) {
	if len(name) >= 8 {
		return uint64(name[7]) | uint64(name[6])<<8 | uint64(name[5])<<16 | uint64(name[4])<<24 |
			uint64(name[3])<<32 | uint64(name[2])<<40 | uint64(name[1])<<48 | uint64(name[0])<<56
	}
	for i := range len(name) {
		head |= uint64(name[i]) << (56 - 8*i)
	}
	return head
}

func newNode[V any](names []string, values []V, below []*node[V]) *node[V] {
	n := &node[V]{names: names, heads: make([]uint64, len(names)), values: values, below: below}
	if len(names) == 0 {
		return n
	}
	first, last := names[0], names[len(names)-1]
	for n.common < min(len(first), len(last)) && first[n.common] == last[n.common] {
		n.common++
	}
	for i, name := range names {
		n.heads[i] = headOf(name[n.common:])
	}
	return n
}

// With is m with a value under a name, in the place of what was there.
func (m Map[V]) With(name string, value V) Map[V] {
	if m.root == nil {
		return Map[V]{newNode([]string{name}, []V{value}, nil), 1}
	}
	root, added := m.root.with(name, value)
	if parts := root.split(); len(parts) > 1 {
		root = newNode(firsts(parts), nil, parts)
	}
	return Map[V]{root, m.count + added}
}

// with returns a copy, which may have one too many.
func (n *node[V]) with(name string, value V) (_ *node[V], added int) {
	at := n.position(name)
	if n.below != nil {
		at = max(at-1, 0)
		part, added := n.below[at].with(name, value)
		return n.replaced(at, at+1, part.split()), added
	}
	if at > 0 && n.names[at-1] == name {
		values := slices.Clone(n.values)
		values[at-1] = value
		return &node[V]{names: n.names, common: n.common, heads: n.heads, values: values}, 0
	}
	return newNode(spliced(n.names, at, at, name), spliced(n.values, at, at, value), nil), 1
}

// Without is m without a name; found says whether it was there.
func (m Map[V]) Without(name string) (_ Map[V], found bool) {
	if m.root == nil {
		return m, false
	}
	root := m.root.without(name)
	if root == nil {
		return m, false
	}
	for root.below != nil && len(root.below) == 1 {
		root = root.below[0]
	}
	if m.count == 1 {
		root = nil
	}
	return Map[V]{root, m.count - 1}, true
}

// without returns a copy, which may have too few, nil if the name is not there.
func (n *node[V]) without(name string) *node[V] {
	at := n.position(name) - 1
	switch {
	case at < 0:
		return nil
	case n.below == nil && n.names[at] != name:
		return nil
	case n.below == nil:
		return newNode(spliced(n.names, at, at+1), spliced(n.values, at, at+1), nil)
	}
	part := n.below[at].without(name)
	switch {
	case part == nil:
		return nil
	case len(part.names) >= least || len(n.below) == 1:
		return n.replaced(at, at+1, []*node[V]{part})
	case at > 0:
		return n.replaced(at-1, at+1, n.below[at-1].joined(part).split())
	}
	return n.replaced(at, at+2, part.joined(n.below[at+1]).split())
}

// replaced returns a copy with parts in the place of those from one place to another.
func (n *node[V]) replaced(from, to int, parts []*node[V]) *node[V] {
	return newNode(spliced(n.names, from, to, firsts(parts)...), nil, spliced(n.below, from, to, parts...))
}

// joined returns a node with what both have.
func (n *node[V]) joined(next *node[V]) *node[V] {
	return newNode(slices.Concat(n.names, next.names), slices.Concat(n.values, next.values), slices.Concat(n.below, next.below))
}

// split returns a node, or its halves if it has too many.
func (n *node[V]) split() []*node[V] {
	if len(n.names) <= most {
		return []*node[V]{n}
	}
	half := len(n.names) / 2
	part := func(from, to int) *node[V] {
		if n.below == nil {
			return newNode(slices.Clone(n.names[from:to]), slices.Clone(n.values[from:to]), nil)
		}
		return newNode(slices.Clone(n.names[from:to]), nil, slices.Clone(n.below[from:to]))
	}
	return []*node[V]{part(0, half), part(half, len(n.names))}
}

// firsts are the first names of nodes.
func firsts[V any](parts []*node[V]) []string {
	names := make([]string, len(parts), 2)
	for i, p := range parts {
		names[i] = p.names[0]
	}
	return names
}

// spliced returns a copy of list with others in the place of those from one place to another.
func spliced[T any](list []T, from, to int, others ...T) []T {
	if len(list)-(to-from)+len(others) == 0 {
		return nil
	}
	changed := make([]T, 0, len(list)-(to-from)+len(others))
	return append(append(append(changed, list[:from]...), others...), list[to:]...)
}

// Under yields the values whose names begin with prefix, in the order of the names.
func (m *Map[V]) Under(prefix string) iter.Seq[V] {
	return func(yield func(V) bool) {
		if m.root != nil {
			m.root.under(prefix, yield)
		}
	}
}

// under reports whether there may be more.
func (n *node[V]) under(prefix string, yield func(V) bool) bool {
	from, found := slices.BinarySearch(n.names, prefix)
	if n.below != nil {
		if !found {
			from = max(from-1, 0)
		}
		for _, part := range n.below[from:] {
			if !part.under(prefix, yield) {
				return false
			}
		}
		return true
	}
	for i := from; i < len(n.names); i++ {
		if !strings.HasPrefix(n.names[i], prefix) || !yield(n.values[i]) {
			return false
		}
	}
	return true
}
