package expiry

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/wheel"
)

// Horizons are the upper limits of the classes of Counts, in ms from now. One more class has all later times.
var Horizons = [...]int64{1000, 60_000, 3_600_000, 86_400_000}

// Counts counts the ready messages that expire.
type Counts struct {
	// Count is the number of messages with a deadline.
	Count int
	// Within counts messages due within each horizon but not within the previous one; its last element counts later
	// ones. Overdue messages are in the first class.
	Within [len(Horizons) + 1]int
	// Next is the earliest deadline in wall ms, 0 if there is none.
	Next int64
}

// Counts returns the counts. They are exact, and take the same time for any number of messages (wheel.Until). now is in
// wall ms. In strict mode it counts by deadline, though messages expire only at the head.
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

// Due returns the number of ready messages with a deadline at or before ms (wall ms), which is not before the last
// Advance.
func (e *Expiry) Due(ms int64) int { return e.wheel.Until(ms) }

// Scan iterates over the ready messages with a deadline, roughly in the order of the deadlines. See Expiry.Scan.
type Scan struct {
	e     *Expiry
	from  int64          // where the search for the current list begins
	list  wheel.List     // current list
	next  backlog.Handle // next message in the current list, 0 if there is no such list
	left  uint32         // left of e when the scan began
	begin int64
}

// Scan returns an iteration over messages due at ms (wall ms) or later; a few earlier ones may come first.
func (e *Expiry) Scan(ms int64) Scan { return Scan{e: e, from: ms, begin: ms, left: e.left} }

// Step calls f for one run of messages. If whole is true, all messages of later runs are due after this run. A run of
// messages due at the same ms is split after limit, and continued by the next call. If messages have left the wheel
// since the last call, the scan restarts and anew is true: earlier results are invalid. more reports whether messages
// remain.
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
