package records

import (
	"cmp"
	"slices"

	"candlemark/internal/store"
)

// Order tells messages that the journal had apart, list being by ascending number: it calls queued for those that were in
// the queue, in the order in which they stood there, and returns those that are scheduled and not released, which go on
// waiting. What was released stands where its time puts it (DLY-14). holds: the queue is the holder of a delayed exchange.
func Order(list []store.Recovered, holds bool, queued func(*store.Recovered)) (waiting []*store.Recovered) {
	var released []*store.Recovered // in the order of their times
	for i := range list {
		m := &list[i]
		if holds && m.Due == 0 { // written before there were scheduled messages
			m.Due = m.Deadline
		}
		if m.Due != 0 && m.Released {
			released = append(released, m)
		}
	}
	slices.SortFunc(released, func(a, b *store.Recovered) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Seq, b.Seq)) })
	for i := range list {
		switch m := &list[i]; {
		case m.Due == 0:
			for len(released) > 0 && released[0].Due < m.Time {
				queued(released[0])
				released = released[1:]
			}
			queued(m)
		case !m.Released:
			waiting = append(waiting, m)
		}
	}
	for _, m := range released {
		queued(m)
	}
	return waiting
}
