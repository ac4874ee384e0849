package definitions

import (
	"encoding/json"
	"fmt"
	"slices"

	"candlemark/internal/access/auth"
)

// tables hold the definitions while a group of changes is made. An error ends the whole group.
type tables interface {
	// get returns nil for a missing key. The record must not be altered, and is invalid after the group.
	get(in table, key []byte) []byte
	put(in table, key, record []byte) error
	remove(in table, key []byte) error
	// each calls f with all lines whose key begins with prefix, by ascending key. f must not change anything.
	each(in table, prefix []byte, f func(key, record []byte) error) error
}

// pendingWork makes the changes of a group.
type pendingWork struct {
	tables
	counts
}

// slot is the place of a value in the tables.
type slot struct {
	in      table
	key     []byte
	content []byte // of the record to be written
	value   any
}

// makeGroup makes the changes of a group. A step that cannot be made gets its error and changes nothing; any other
// error ends the group.
func makeGroup(t tables, group []*step) (revision uint64, err error) {
	w := pendingWork{tables: t}
	if w.counts, err = readCounts(t); err != nil {
		return 0, err
	}
	for _, s := range group {
		if s.change.Entry > 0 {
			if s.change.Entry <= w.entry {
				s.revision = w.revision
				continue
			}
		}
		w.entry = s.change.Entry // none for a broker alone, which may have the data of a node
		var removed, written []slot
		if removed, written, s.err = w.prepare(s.change); s.err != nil {
			continue
		}
		if err := w.make(removed, written); err != nil {
			return 0, err
		}
		w.revision++
		s.revision = w.revision
	}
	return w.revision, w.counts.write(t)
}

// prepare finds the places of all values in a change, and everything that is wrong with it.
func (w *pendingWork) prepare(c Change) (removed, written []slot, err error) {
	ended, made := map[string]bool{}, map[string]bool{}
	for _, v := range c.Delete {
		p := slot{value: v}
		if _, ok := v.(Ended); ok {
			removed = append(removed, p)
			continue
		}
		if p.in, p.key, _, err = identify(v); err != nil {
			return nil, nil, err
		}
		if x, ok := v.(auth.VHost); ok {
			ended[x.Name] = true
		}
		removed = append(removed, p)
	}
	for _, v := range c.Put {
		if x, ok := v.(auth.VHost); ok {
			made[x.Name] = true
		}
	}
	for _, v := range c.Put {
		p, vhost := slot{value: v}, ""
		switch v.(type) {
		case Incarnation, Journal:
			written = append(written, p)
			continue
		}
		if p.in, p.key, vhost, err = identify(v); err != nil {
			return nil, nil, err
		}
		if p.content, err = content(v); err != nil {
			return nil, nil, err
		}
		if inVHosts.has(p.in) && !made[vhost] && (ended[vhost] || w.get(vhosts, join(vhost)) == nil) {
			return nil, nil, ErrNoVHost
		}
		written = append(written, p)
	}
	return removed, written, nil
}

func (w *pendingWork) make(removed, written []slot) error {
	for _, p := range removed {
		if err := w.drop(p); err != nil {
			return err
		}
	}
	for _, p := range written {
		switch v := p.value.(type) {
		case Incarnation:
			w.incarnation = max(w.incarnation, uint64(v))
			continue
		case Journal:
			w.journal = uint64(v)
			continue
		}
		if v, ok := p.value.(Queue); ok {
			if err := w.endBut(v.Incarnation, p.key); err != nil {
				return err
			}
			if v.Ending != "" {
				if err := w.unbindQueue(v); err != nil {
					return err
				}
			}
		}
		if err := w.write(p.in, p.key, p.content); err != nil {
			return err
		}
		switch v := p.value.(type) {
		case Queue:
			w.incarnation = max(w.incarnation, v.Incarnation)
		case Binding:
			if err := w.write(leading, turned(p.key), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop deletes an object and all objects that depend on it.
func (w *pendingWork) drop(p slot) error {
	switch v := p.value.(type) {
	case Ended:
		w.ended = slices.DeleteFunc(w.ended, func(n uint64) bool { return n == uint64(v) })
		return nil
	case auth.VHost:
		if err := w.endAll(join(v.Name)); err != nil {
			return err
		}
		for _, in := range inVHosts {
			if err := w.clear(in, join(v.Name), nil); err != nil {
				return err
			}
		}
	case Binding:
		if err := w.erase(leading, turned(p.key)); err != nil {
			return err
		}
	case Queue:
		if err := w.endBut(0, p.key); err != nil {
			return err
		}
		if err := w.unbindQueue(v); err != nil {
			return err
		}
	case Exchange:
		if err := w.clear(leading, join(v.VHost, destination(v.Name, true)), w.unbind(bindings)); err != nil {
			return err
		}
		if err := w.clear(bindings, join(v.VHost, v.Name), w.unbind(leading)); err != nil {
			return err
		}
	}
	return w.erase(p.in, p.key)
}

// endAll records the end of all stored queues whose keys begin with prefix.
func (w *pendingWork) endAll(prefix []byte) error {
	return w.each(queues, prefix, func(key, _ []byte) error { return w.endBut(0, key) })
}

// endBut records the end of the queue stored at a key, if there is one with another incarnation: a crash may come
// before its messages are removed.
func (w *pendingWork) endBut(incarnation uint64, key []byte) error {
	record := w.get(queues, key)
	if record == nil {
		return nil
	}
	text, err := unseal(queues, key, record)
	if err != nil {
		return err
	}
	var r queueRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if r.Incarnation != incarnation {
		w.ended = append(w.ended, r.Incarnation)
	}
	return nil
}

// unbindQueue deletes all bindings to a queue.
func (w *pendingWork) unbindQueue(q Queue) error {
	return w.clear(leading, join(q.VHost, destination(q.Name, false)), w.unbind(bindings))
}

// unbind erases the other line of a binding.
func (w *pendingWork) unbind(in table) func(key []byte) error {
	return func(key []byte) error { return w.erase(in, turned(key)) }
}

// clear erases all lines whose key begins with prefix; along, unless nil, is called for each.
func (w *pendingWork) clear(in table, prefix []byte, along func(key []byte) error) error {
	var keys [][]byte
	if err := w.each(in, prefix, func(key, _ []byte) error {
		keys = append(keys, append([]byte(nil), key...))
		return nil
	}); err != nil {
		return err
	}
	for _, key := range keys {
		if err := w.erase(in, key); err != nil {
			return err
		}
		if along != nil {
			if err := along(key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *pendingWork) write(in table, key, content []byte) error {
	if w.get(in, key) == nil {
		w.lines++
	}
	return w.put(in, key, seal(in, key, content))
}

func (w *pendingWork) erase(in table, key []byte) error {
	if w.get(in, key) == nil {
		return nil
	}
	w.lines--
	return w.remove(in, key)
}
