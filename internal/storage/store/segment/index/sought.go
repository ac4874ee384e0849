package index

import (
	"math/bits"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
)

// Sought holds the live messages of a queue in a segment, and which of them are not found yet.
type Sought struct {
	Set
	left []uint64 // bits of messages not found yet, as in words
}

// NewSought looks for the live messages of a set, as it is now.
func NewSought(s *Set) *Sought { return &Sought{Set: s.copy()} }

// Join adds the live messages of another set.
func (s *Sought) Join(other *Set) {
	for _, w := range other.words {
		for live := w.live; live != 0; live &= live - 1 {
			bit := live & -live
			seq := w.base*64 + uint64(bits.TrailingZeros64(live))
			s.add(seq, 0)
			if w.delivered&bit != 0 {
				s.deliver(seq, seq)
			}
			if w.released&bit != 0 {
				s.markReleased(seq, seq, other.ttlThen(seq))
			}
			if other.isDeferred(seq) {
				s.markDeferred(seq, seq)
			}
			if until, ok := other.until[seq]; ok {
				s.postpone(seq, seq, until)
			}
			s.count(seq, other.returns(seq))
			if due, ok := other.dues[seq]; ok {
				s.setDue(seq, due)
			}
		}
	}
}

// Begin starts the search; no set may be joined afterwards.
func (s *Sought) Begin() {
	for _, w := range s.words {
		s.left = append(s.left, w.live)
	}
}

// Seek reports whether a message is live, and whether it was found before. Found marks it as found again.
func (s *Sought) Seek(seq uint64) (before, lives bool) {
	i, bit := s.find(seq/64), uint64(1)<<(seq%64)
	if i == len(s.words) || s.words[i].base != seq/64 || s.words[i].live&bit == 0 {
		return false, false
	}
	before = s.left[i]&bit == 0
	s.left[i] |= bit
	return before, true
}

// Found returns a live message as its queue gets it.
func (s *Sought) Found(e *format.Entry, at store.Position) store.Recovered {
	r := &e.Record
	i, bit := s.find(r.First/64), uint64(1)<<(r.First%64)
	s.left[i] &^= bit
	w, n := &s.words[i], s.returns(r.First)
	m := store.Recovered{
		Seq: r.First, At: at, Deadline: r.Deadline, TTL: r.TTL, Time: r.Time, Due: r.Due, Body: uint32(e.Body),
		Returns: n, Priority: r.Priority, Redelivered: n > 0 || w.delivered&bit != 0, Released: w.released&bit != 0, TTLThen: s.ttlThen(r.First),
		Deferred: s.isDeferred(r.First), Until: s.until[r.First], Note: r.Note,
	}
	if due, ok := s.dues[r.First]; ok {
		m.Due = due
	}
	if m.Due != 0 {
		m.MessageID = store.IDHash(r.Header)
	}
	return m
}

// Missing lists the messages that were not found.
func (s *Sought) Missing() (list []uint64) {
	for i, left := range s.left {
		for ; left != 0; left &= left - 1 {
			list = append(list, s.words[i].base*64+uint64(bits.TrailingZeros64(left)))
		}
	}
	return list
}
