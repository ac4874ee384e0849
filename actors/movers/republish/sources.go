package republish

import "slices"

// source is a queue, or an exchange, with unfinished batches. They keep their order: while the first one waits for a
// route or for permission to be copied, so do the others.
type source struct {
	id      string
	batches []*batch // oldest first
}

// sources are all sources. Sources with work take turns, so that dead letters of one queue do not wait for all of
// another's.
type sources struct {
	all  map[string]*source
	next []*source // can proceed, by turn
	held []*source // wait for permission to be copied, oldest first
}

// add adds a batch behind the other batches of its source.
func (x *sources) add(b *batch) {
	id := b.From.GetId()
	if s := x.all[id]; s != nil {
		s.batches = append(s.batches, b)
		return
	}
	s := &source{id: id, batches: []*batch{b}}
	if x.all == nil {
		x.all = map[string]*source{}
	}
	x.all[id] = s
	x.next = append(x.next, s)
}

// take takes the source whose turn it is; nil for none.
func (x *sources) take() *source {
	if len(x.next) == 0 {
		return nil
	}
	s := x.next[0]
	x.next[0] = nil
	if x.next = x.next[1:]; len(x.next) == 0 {
		x.next = nil
	}
	return s
}

// put puts a source back after its turn. One that waits for a route returns by found.
func (x *sources) put(s *source) {
	switch {
	case len(s.batches) == 0:
		delete(x.all, s.id)
	case s.batches[0].waiting != nil:
	case s.batches[0].held:
		x.held = append(x.held, s)
	default:
		x.next = append(x.next, s)
	}
}

// found makes a batch proceed, for which a route was found; false if it no longer exists.
func (x *sources) found(b *batch) bool {
	s := x.all[b.From.GetId()]
	if s == nil || s.batches[0] != b || b.waiting == nil {
		return false
	}
	b.waiting = nil
	x.next = append(x.next, s)
	return true
}

// release makes the first n held sources proceed.
func (x *sources) release(n int) {
	for _, s := range x.held[:n] {
		s.batches[0].held = false
	}
	x.next = append(x.next, x.held[:n]...)
	if x.held = slices.Delete(x.held, 0, n); len(x.held) == 0 {
		x.held = nil
	}
}

// each calls f for each batch.
func (x *sources) each(f func(*batch)) {
	for _, s := range x.all {
		for _, b := range s.batches {
			f(b)
		}
	}
}
