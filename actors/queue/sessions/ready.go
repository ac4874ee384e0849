package sessions

import (
	"cmp"
	"slices"

	"candlemark/actors/queue/backlog"
)

// place is the position of a message in its session.
type place struct {
	order  uint64
	handle backlog.Handle
}

// ready holds the places of a session's ready messages, as a heap with the first in front. It may hold a place twice,
// and places of messages no longer ready.
type ready []place

func (r *ready) push(p place) {
	h := append(*r, p)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].order <= h[i].order {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*r = h
}

func (r *ready) pop() {
	h := *r
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && h[down+1].order < h[down].order {
			down++
		}
		if h[i].order <= h[down].order {
			break
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
	if *r = h; n == 0 {
		*r = nil
	}
}

// compact removes repeated places, and places of messages no longer ready.
func (r *ready) compact(is func(place) bool) {
	h := slices.DeleteFunc(*r, func(p place) bool { return !is(p) })
	slices.SortFunc(h, func(a, b place) int { return cmp.Compare(a.order, b.order) })
	*r = slices.Clip(slices.CompactFunc(h, func(a, b place) bool { return a.order == b.order })) // a sorted slice is a heap
}

// barrier holds the queued messages whose sessions are not known yet, in order: all messages after the first of them
// wait.
type barrier struct{ all []expected }

type expected struct{ order, seq uint64 }

func (b *barrier) add(order, seq uint64) { b.all = append(b.all, expected{order, seq}) }

// before reports whether one of them precedes a place.
func (b *barrier) before(order uint64, members map[uint64]member) bool {
	for ; len(b.all) > 0; b.all = b.all[1:] {
		first := b.all[0]
		if m, is := members[first.seq]; is && m.session == nil && m.order == first.order {
			return first.order < order
		}
	}
	b.all = nil
	return false
}
