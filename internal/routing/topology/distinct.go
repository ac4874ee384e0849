package topology

import "slices"

// distinctScan is the number of values up to which scanning the list is faster than a map.
const distinctScan = 32

// distinct is a list without duplicates. It keeps its memory when it is reset.
type distinct[T comparable] struct {
	list []T
	seen map[T]struct{} // the first len(seen) values of list; grows only when needed
}

// add appends v and returns true, or false if it is already in the list.
func (d *distinct[T]) add(v T) bool {
	if d.has(v) {
		return false
	}
	d.list = append(d.list, v)
	return true
}

func (d *distinct[T]) has(v T) bool {
	if len(d.list) <= distinctScan {
		return slices.Contains(d.list, v)
	}
	if d.seen == nil {
		d.seen = make(map[T]struct{}, 2*len(d.list))
	}
	for _, known := range d.list[len(d.seen):] {
		d.seen[known] = struct{}{}
	}
	_, found := d.seen[v]
	return found
}

// remove removes values from the list; they can be added again.
func (d *distinct[T]) remove(values map[T]bool) {
	d.list = slices.DeleteFunc(d.list, func(v T) bool { return values[v] })
	clear(d.seen)
}

// reset empties the list and forgets its values, so that the garbage collector can free them.
func (d *distinct[T]) reset() {
	clear(d.list)
	d.list = d.list[:0]
	if len(d.seen) > 0 {
		clear(d.seen)
	}
}
