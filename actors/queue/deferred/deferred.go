package deferred

import (
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/wheel"
)

// Set is the deferred messages of a queue that nobody holds. nil has none, and is good for all methods but Add and Take.
type Set struct {
	messages *backlog.Backlog
	wheel    wheel.Wheel[*backlog.Backlog] // of those that expire
	there    map[uint64]backlog.Handle     // by number
	order    []uint64                      // their numbers, with some that are gone
	bytes    int64
	due      []backlog.Handle // what the wheel fires, reused
}

// New makes an empty Set of messages in b.
func New(b *backlog.Backlog) *Set {
	return &Set{messages: b, wheel: wheel.New(b), there: map[uint64]backlog.Handle{}}
}

// Len is how many there are.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.there)
}

// Bytes are those of the bodies.
func (s *Set) Bytes() int64 {
	if s == nil {
		return 0
	}
	return s.bytes
}

// Add takes in a message that is not ready and that nobody holds, at now, in wall ms.
func (s *Set) Add(h backlog.Handle, now int64) {
	seq := s.messages.Seq(h)
	if i, found := slices.BinarySearch(s.order, seq); !found {
		s.order = slices.Insert(s.order, i, seq)
	}
	s.there[seq] = h
	s.bytes += s.messages.Size(h)
	if s.wheel.Len() == 0 {
		s.wheel.Advance(now, 0, nil) // nothing fires; it only learns the time
	}
	s.wheel.Add(h)
}

// Take takes a message out.
func (s *Set) Take(h backlog.Handle) {
	s.wheel.Remove(h)
	s.forget(h)
}

func (s *Set) forget(h backlog.Handle) {
	delete(s.there, s.messages.Seq(h))
	s.bytes -= s.messages.Size(h)
	if len(s.order) > 2*len(s.there)+64 {
		s.order = slices.DeleteFunc(s.order, func(seq uint64) bool { _, is := s.there[seq]; return !is })
		s.order = slices.Clip(s.order)
	}
}

// Find is the message with that number.
func (s *Set) Find(seq uint64) (h backlog.Handle, ok bool) {
	if s == nil {
		return 0, false
	}
	h, ok = s.there[seq]
	return h, ok
}

// From yields those with numbers above after in order, until it is told false. Nothing may change meanwhile.
func (s *Set) From(after uint64, yield func(h backlog.Handle) bool) {
	if s == nil {
		return
	}
	i, found := slices.BinarySearch(s.order, after)
	if found {
		i++
	}
	for _, seq := range s.order[i:] {
		if h, is := s.there[seq]; is && !yield(h) {
			return
		}
	}
}

// First is the one with the lowest number.
func (s *Set) First() (h backlog.Handle, ok bool) {
	if s == nil {
		return 0, false
	}
	for ; len(s.order) > 0; s.order = s.order[1:] { // what is gone is looked at once
		if h, ok = s.there[s.order[0]]; ok {
			return h, true
		}
	}
	return 0, false
}

// Lift takes a message off the wheel, so that its deadline can change, and reports whether it is one of these. Drop puts it
// back.
func (s *Set) Lift(h backlog.Handle) bool {
	if at, is := s.Find(s.messages.Seq(h)); !is || at != h {
		return false
	}
	s.wheel.Remove(h)
	return true
}

// Drop is explained at Lift.
func (s *Set) Drop(h backlog.Handle) { s.wheel.Add(h) }

// Next is when Advance is to be called, in wall ms.
func (s *Set) Next() (int64, bool) {
	if s == nil {
		return 0, false
	}
	return s.wheel.Next()
}

// Advance takes those out that are past their deadline, about limit at a time, and calls end for each. It reports whether
// there may be more.
func (s *Set) Advance(now int64, limit int, end func(backlog.Handle)) (more bool) {
	if s == nil {
		return false
	}
	more = s.wheel.Advance(now, limit, func(h uint32) { s.due = append(s.due, h) })
	for _, h := range s.due {
		s.forget(h)
		end(h)
	}
	if s.due = s.due[:0]; cap(s.due) > 64 {
		s.due = nil
	}
	return more
}
