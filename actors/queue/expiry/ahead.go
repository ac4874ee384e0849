package expiry

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/wheel"
)

// Horizons are how many ms ahead the classes of Counts reach. One more class is behind them.
var Horizons = [...]int64{1000, 60_000, 3_600_000, 86_400_000}

// Counts tell when the ready messages expire.
type Counts struct {
	// Count is how many have a deadline.
	Count int
	// Within are those due within each of the horizons and not before, and last the later ones. What is overdue is in the first.
	Within [len(Horizons) + 1]int
	// Next is the earliest deadline in wall ms, 0 if there is none.
	Next int64
}

// Counts are known, not counted: they take the same whatever the number of messages (wheel.Until), and are exact. now is in wall
// ms. In strict mode they tell the deadlines, though nothing expires before it is the head.
func (e *Expiry) Counts(now int64) (c Counts) {
	next, ok := e.wheel.Earliest()
	if !ok {
		return c
	}
	c.Count, c.Next = e.wheel.Len(), next
	before := 0
	for i, ms := range Horizons {
		n := e.wheel.Until(now + ms)
		c.Within[i], before = n-before, n
	}
	c.Within[len(Horizons)] = c.Count - before
	return c
}

// Due is how many ready messages have a deadline at wall ms or before, which is not before the last Advance.
func (e *Expiry) Due(ms int64) int { return e.wheel.Until(ms) }

// Scan goes over the ready messages that have a deadline, in an order near that of the deadlines. See Expiry.Scan.
type Scan struct {
	e     *Expiry
	from  int64          // where the list in hand begins to be looked for
	list  wheel.List     // in hand
	next  backlog.Handle // in it, 0 if none is in hand
	left  uint32         // of e
	begin int64
}

// Scan begins to go over those due at wall ms or later; some others may come first.
func (e *Expiry) Scan(ms int64) Scan { return Scan{e: e, from: ms, begin: ms, left: e.left} }

// Step calls f for one run of messages. All of those that come later are due after all of it, if it was whole. Of messages that are
// due at the same ms it stops after limit, and goes on with the next call. If messages have left meanwhile it begins anew, and says
// so instead: what came before is to be forgotten. It reports whether there are more.
func (s *Scan) Step(limit int, f func(backlog.Handle)) (whole, anew, more bool) {
	if s.next != 0 && s.left != s.e.left {
		*s = s.e.Scan(s.begin)
		return false, true, true
	}
	if s.next == 0 {
		var ok bool
		if s.list, ok = s.e.wheel.From(s.from); !ok {
			return true, false, false
		}
		s.next, s.left = s.e.messages.Links(s.list.Tail).Next, s.e.left
	}
	for n := 0; ; n++ {
		if n >= limit && s.list.First == s.list.Last {
			return false, false, true
		}
		h := s.next
		f(h)
		if h == s.list.Tail {
			s.next, s.from = 0, s.list.Last+1
			return true, false, true
		}
		s.next = s.e.messages.Links(h).Next
	}
}
