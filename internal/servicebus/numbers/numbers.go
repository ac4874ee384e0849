package numbers

import "candlemark/internal/routing/topology"

// The numbers of the messages of durable queues (ADR 28) begin after Begin at the broker's first start, and each start
// has Each of them. A start reserves PerStart incarnations for new queues: incarnations of transient queues are not
// stored, and must not be used again.
const (
	Begin    = 1 << 61
	Each     = 1 << 44
	PerStart = 1 << 32
)

// Clients see shownEach numbers for each start, and less than maxShown altogether, all of which JavaScript's numbers represent exactly.
const (
	shownEach = 1 << 34
	maxShown  = 1 << 53
)

// Of is the numbering of a queue.
type Of struct {
	start  uint64 // in which the queue was declared
	ranges bool   // its numbers are in ranges; a transient queue's numbers begin with 1
}

// OfQueue returns the numbering of a queue.
func OfQueue(q *topology.Queue) Of { return Of{q.Incarnation / PerStart, q.Durable} }

// Shown returns the number by which clients know the message with a number of the queue. It grows with n, and is exact in JavaScript as long as a
// start of the broker uses at most 2^34 numbers in the queue. Numbers that this version does not give are unchanged.
func (o Of) Shown(n uint64) int64 {
	starts := n/Each - Begin/Each
	if !o.ranges || n < Begin || starts < o.start {
		return int64(n)
	}
	return int64((starts-o.start)*shownEach + n%Each)
}

// Number is the reverse of Shown; 0, which no message has, for negative numbers.
func (o Of) Number(shown int64) uint64 {
	switch n := uint64(max(shown, 0)); {
	case !o.ranges || n == 0 || n >= maxShown:
		return n
	default:
		return Begin + (o.start+n/shownEach)*Each + n%shownEach
	}
}
