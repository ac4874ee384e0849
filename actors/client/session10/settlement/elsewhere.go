package settlement

import (
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/protocol/amqp10"
)

// maxRanges is the maximum number of ranges of tags; beyond that the oldest are removed.
const maxRanges = 10_000

// Elsewhere holds the tags of deliveries that were settled by their locks: if a client also settles them on their link,
// the answer is that they are lost. The zero value is empty.
type Elsewhere struct{ ranges []mail.Range } // ascending

// Add adds tags.
func (e *Elsewhere) Add(tags ...uint64) {
	for _, tag := range tags {
		i := e.at(tag)
		switch before, behind := i > 0 && e.ranges[i-1].Last+1 == tag, i < len(e.ranges) && e.ranges[i].First == tag+1; {
		case before && behind:
			e.ranges[i-1].Last = e.ranges[i].Last
			e.ranges = slices.Delete(e.ranges, i, i+1)
		case before:
			e.ranges[i-1].Last = tag
		case behind:
			e.ranges[i].First = tag
		default:
			e.ranges = slices.Insert(e.ranges, i, mail.Range{First: tag, Last: tag})
		}
	}
	if n := len(e.ranges) - maxRanges; n > 0 {
		e.ranges = slices.Delete(e.ranges, 0, n)
	}
}

// at returns the index of the first range that does not end before tag.
func (e *Elsewhere) at(tag uint64) int {
	i, _ := slices.BinarySearchFunc(e.ranges, tag, func(r mail.Range, tag uint64) int {
		if r.Last < tag {
			return -1
		}
		return 1
	})
	return i
}

// Take removes the tags from first to last, answers that they are lost, unless the client has already settled them, and
// reports whether there were any.
func (e *Elsewhere) Take(first, last uint64, settled bool, send func(amqp10.Composite)) (any bool) {
	from := e.at(first)
	to := from
	var left []mail.Range
	for ; to < len(e.ranges) && e.ranges[to].First <= last; to++ {
		r := e.ranges[to]
		if r.First < first {
			left = append(left, mail.Range{First: r.First, Last: first - 1})
		}
		if r.Last > last {
			left = append(left, mail.Range{First: last + 1, Last: r.Last})
		}
		if !settled {
			send(&amqp10.Disposition{
				Role: amqp10.RoleSender, First: uint32(max(r.First, first) - 1), Last: amqp10.Some(uint32(min(r.Last, last) - 1)), Settled: true,
				State: amqp10.State{Kind: amqp10.Rejected, Error: servicebus.ErrLockLost()},
			})
		}
	}
	e.ranges = slices.Replace(e.ranges, from, to, left...)
	return to > from
}
