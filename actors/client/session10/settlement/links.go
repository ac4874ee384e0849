package settlement

import (
	"candlemark/actors/client/unacked"
	"candlemark/internal/transport/seqmap"
)

// TakeOf removes the unsettled deliveries of the links selected by which, and calls f for each in order. owners has the
// link of each delivery, under the same number as in all.
func TakeOf[Link any](all *unacked.Deliveries, owners *seqmap.Map[Link], which func(Link) bool, f func(unacked.Unacked)) {
	var tags []uint64
	owners.Each(func(tag uint64, owner Link) bool {
		if which(owner) {
			tags = append(tags, tag)
		}
		return true
	})
	for _, tag := range tags {
		owners.Take(tag)
		all.Take(tag, tag, func(_ uint64, u unacked.Unacked) { f(u) })
	}
}
