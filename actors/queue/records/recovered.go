package records

import (
	"cmp"
	"slices"

	"candlemark/internal/storage/store"
)

// Order sorts list, the messages of the journal by ascending number: it calls queued for the messages that were in the
// queue, in queue order, and returns the messages still scheduled. Released messages are ordered by their due times
// (DLY-14). holds: the queue holds the messages of a delayed exchange.
func Order(list []store.Recovered, holds bool, queued func(*store.Recovered)) (waiting []*store.Recovered) {
	var released []*store.Recovered // by due time
	for i := range list {
		m := &list[i]
		if holds && m.Due == 0 { // written by a version without scheduled messages
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
