package index

import (
	"maps"
	"slices"

	"candlemark/internal/storage/store"
)

// Copies are the copies of messages that have not left their original queue (store.Record.Origin), in memory only. The
// zero value is empty.
type Copies struct {
	of   map[store.Origin][]store.Origin // copies of a message, in any order
	from map[store.Origin]origin         // of a copy
}

// origin is the message that a copy comes from, and the place of the copy in its list.
type origin struct {
	message store.Origin
	at      int
}

// Put adds a copy of a message. The message may be put later.
func (c *Copies) Put(copy, of store.Origin) {
	if c.of == nil {
		c.of, c.from = map[store.Origin][]store.Origin{}, map[store.Origin]origin{}
	}
	c.from[copy] = origin{of, len(c.of[of])}
	c.of[of] = append(c.of[of], copy)
}

// remove forgets removed messages, a run of a queue. Copies of a removed copy are copies of its origin.
func (c *Copies) remove(q store.QueueID, first, last uint64) {
	if len(c.from) == 0 {
		return
	}
	if last-first < uint64(len(c.from)) {
		for seq := first; ; seq++ {
			c.removeOne(store.Origin{Queue: q, Seq: seq})
			if seq == last {
				return
			}
		}
	}
	for _, known := range []([]store.Origin){slices.Collect(maps.Keys(c.of)), slices.Collect(maps.Keys(c.from))} {
		for _, m := range known {
			if m.Queue == q && first <= m.Seq && m.Seq <= last {
				c.removeOne(m)
			}
		}
	}
}

func (c *Copies) removeOne(m store.Origin) {
	parent, copy := c.from[m]
	if copy {
		c.takeOut(parent)
		delete(c.from, m)
	}
	for _, child := range c.of[m] {
		if delete(c.from, child); copy {
			c.Put(child, parent.message)
		}
	}
	delete(c.of, m)
}

// takeOut removes a copy from the list of its origin.
func (c *Copies) takeOut(o origin) {
	list := c.of[o.message]
	last := len(list) - 1
	if o.at != last {
		list[o.at] = list[last]
		c.from[list[o.at]] = o
	}
	if c.of[o.message] = list[:last]; last == 0 {
		delete(c.of, o.message)
	}
}

// Once returns the index without the copies of messages that survive a restart as well, so that each message is in it
// once. It is x itself if there are no such copies, and otherwise valid until x changes.
func (x *Index) Once() *Index {
	changed := map[*Set]*Set{}
	for copy, from := range x.Copies.from {
		s := x.stored(copy)
		if s == nil || x.stored(from.message) == nil {
			continue
		}
		if changed[s] == nil {
			changed[s] = s.clone()
		}
		changed[s].remove(copy.Seq, copy.Seq)
	}
	if len(changed) == 0 {
		return x
	}
	once := &Index{Queues: maps.Clone(x.Queues), Names: x.Names, Highest: x.Highest}
	for id, q := range once.Queues {
		if slices.ContainsFunc(q.Sets, func(s *Set) bool { return changed[s] != nil }) {
			n := &Queue{Id: id, Sets: slices.Clone(q.Sets)}
			for i, s := range n.Sets {
				if changed[s] != nil {
					n.Sets[i] = changed[s]
				}
			}
			once.Queues[id] = n
		}
	}
	return once
}

// WithoutEntries returns the index of the same messages in a journal that is no replica.
func (x *Index) WithoutEntries() *Index {
	if x.Applied == 0 {
		return x
	}
	return &Index{Queues: x.Queues, Names: x.Names, Highest: x.Highest}
}

// stored returns the set that contains a message that survives a restart, nil if there is none.
func (x *Index) stored(m store.Origin) *Set {
	if q := x.Queues[m.Queue]; q != nil {
		if s := q.Holder(m.Seq); s != nil && !s.spill {
			return s
		}
	}
	return nil
}

// clone returns a copy with everything that a checkpoint contains, which does not count in its segment.
func (s *Set) clone() *Set {
	c := s.copy()
	c.Seg, c.sizes = &Segment{Seq: s.Seg.Seq}, s.sizes.clone()
	return &c
}
