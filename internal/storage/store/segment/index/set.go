package index

import (
	"maps"
	"math/bits"
	"slices"
	"sort"

	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// word holds the state of 64 consecutive sequence numbers: 32 B, so that a long queue costs 4 bits a message.
type word struct {
	base      uint64 // sequence number / 64
	live      uint64
	delivered uint64 // of the live ones
	released  uint64 // of the live ones
}

// Set holds the live messages of one queue in one segment: either the ones that survive a restart, or the spilled ones.
type Set struct {
	Seg    *Segment
	spill  bool
	Live   int
	bytes  int64   // of the live messages in the segment
	words  []word  // by ascending base
	sizes  numbers // in the segment, in multiples of sizeUnit
	counts numbers // deliveries that came back
	away   numbers // 1 for deferred messages
	then   numbers // of released messages: the place of the queue's TTL at that time in ttls, from 1; 0 if not known
	ttls   []store.TTLThen
	dues   map[uint64]int64 // due times of rescheduled messages
	until  map[uint64]int64 // when postponed messages are ready again
}

// sizeUnit is the unit that sizes of messages are rounded up to, bytes.
const sizeUnit = 64

// find returns the index of the first word that is not below base.
func (s *Set) find(base uint64) int {
	if n := len(s.words); n == 0 || s.words[n-1].base < base {
		return n
	} else if s.words[n-1].base == base {
		return n - 1
	}
	if s.words[0].base >= base {
		return 0
	}
	return sort.Search(len(s.words), func(i int) bool { return s.words[i].base >= base })
}

// add adds a live message that takes size bytes in the segment, or replaces it if it is already live.
func (s *Set) add(seq uint64, size int64) {
	i := s.find(seq / 64)
	if i == len(s.words) || s.words[i].base != seq/64 {
		if i == len(s.words) {
			s.words = append(s.words, word{base: seq / 64})
		} else {
			s.words = slices.Insert(s.words, i, word{base: seq / 64})
			s.sizes.insert(i)
			s.counts.insert(i)
			s.away.insert(i)
			s.then.insert(i)
		}
	}
	bit := uint64(1) << (seq % 64)
	if s.words[i].live&bit == 0 {
		s.words[i].live |= bit
		s.Live++
	}
	units := uint64(size+sizeUnit-1) / sizeUnit
	s.bytes += int64(units-s.sizes.sum(i, bit)) * sizeUnit
	s.sizes.clear(i, bit)
	s.sizes.add(i, bit, units)
}

// has returns the word and bit of a live message, nil if it is not live.
func (s *Set) has(seq uint64) (*word, uint64) {
	i, bit := s.find(seq/64), uint64(1)<<(seq%64)
	if i == len(s.words) || s.words[i].base != seq/64 || s.words[i].live&bit == 0 {
		return nil, 0
	}
	return &s.words[i], bit
}

// each calls f for all words that a run of sequence numbers touches, with the run's bits as mask.
func (s *Set) each(first, last uint64, f func(i int, w *word, mask uint64)) {
	for i := s.find(first / 64); i < len(s.words) && s.words[i].base <= last/64; i++ {
		mask := ^uint64(0)
		if s.words[i].base == first/64 {
			mask &= ^uint64(0) << (first % 64)
		}
		if s.words[i].base == last/64 {
			mask &= ^uint64(0) >> (63 - last%64)
		}
		f(i, &s.words[i], mask)
	}
}

// remove removes a run, also from the counts of the segment, and returns how many of it were live.
func (s *Set) remove(first, last uint64) (n int) {
	units := uint64(0)
	s.each(first, last, func(i int, w *word, mask uint64) {
		gone := w.live & mask
		if gone == 0 {
			return
		}
		n += bits.OnesCount64(gone)
		units += s.sizes.sum(i, gone)
		s.sizes.clear(i, gone)
		s.counts.clear(i, gone)
		s.away.clear(i, gone)
		s.then.clear(i, gone)
		w.live &^= gone
		w.delivered &^= gone
		w.released &^= gone
	})
	s.Live -= n
	s.bytes -= int64(units) * sizeUnit
	s.Seg.count(-n, -int64(units)*sizeUnit)
	if n > 0 && len(s.dues) > 0 {
		forget(s.dues, first, last)
	}
	if n > 0 && len(s.until) > 0 {
		forget(s.until, first, last)
	}
	return n
}

// forget deletes a run from a map, by iterating over whichever is shorter.
func forget[V any](m map[uint64]V, first, last uint64) {
	if last-first < uint64(len(m)) {
		for seq := first; ; seq++ {
			delete(m, seq)
			if seq == last {
				return
			}
		}
	}
	for seq := range m {
		if first <= seq && seq <= last {
			delete(m, seq)
		}
	}
}

// deliver marks a run as delivered and returns how many of it are live.
func (s *Set) deliver(first, last uint64) (n int) {
	s.each(first, last, func(_ int, w *word, mask uint64) {
		n += bits.OnesCount64(w.live & mask)
		w.delivered |= w.live & mask
	})
	return n
}

// markReleased marks a run as released, when its queue had that TTL, and returns how many of it are live.
func (s *Set) markReleased(first, last uint64, ttl store.TTLThen) (n int) {
	place := uint64(0)
	s.each(first, last, func(i int, w *word, mask uint64) {
		live := w.live & mask
		if n += bits.OnesCount64(live); live == 0 {
			return
		}
		if place == 0 && ttl != 0 {
			place = s.placeOf(ttl)
		}
		w.released |= live
		s.then.clear(i, live)
		s.then.add(i, live, place)
	})
	return n
}

// maxSought is how many of the last TTLs are searched for an equal one.
const maxSought = 16

// placeOf returns the place of a TTL in ttls, from 1.
func (s *Set) placeOf(ttl store.TTLThen) uint64 {
	for i := len(s.ttls); i > max(len(s.ttls)-maxSought, 0); i-- {
		if s.ttls[i-1] == ttl {
			return uint64(i)
		}
	}
	s.ttls = append(s.ttls, ttl)
	return uint64(len(s.ttls))
}

// ttlThen returns the TTL that the queue had when a message was released.
func (s *Set) ttlThen(seq uint64) (ttl store.TTLThen) {
	s.each(seq, seq, func(i int, w *word, mask uint64) {
		if n := s.then.sum(i, w.live&mask); n > 0 && n <= uint64(len(s.ttls)) {
			ttl = s.ttls[n-1]
		}
	})
	return ttl
}

// markDeferred marks a run as deferred and returns how many of it are live.
func (s *Set) markDeferred(first, last uint64) (n int) {
	s.each(first, last, func(i int, w *word, mask uint64) {
		n += bits.OnesCount64(w.live & mask)
		s.away.put(0, i, s.away.plane(0, i)|w.live&mask)
	})
	if n > 0 && len(s.until) > 0 {
		forget(s.until, first, last)
	}
	return n
}

// postpone marks a run as deferred until a time and returns how many of it are live.
func (s *Set) postpone(first, last uint64, until int64) (n int) {
	n = s.markDeferred(first, last)
	if s.until == nil && n > 0 {
		s.until = map[uint64]int64{}
	}
	s.each(first, last, func(_ int, w *word, mask uint64) {
		for live := w.live & mask; live != 0; live &= live - 1 {
			s.until[w.base*64+uint64(bits.TrailingZeros64(live))] = until
		}
	})
	return n
}

// isDeferred reports whether a live message is deferred.
func (s *Set) isDeferred(seq uint64) (is bool) {
	s.each(seq, seq, func(i int, w *word, mask uint64) { is = s.away.plane(0, i)&w.live&mask != 0 })
	return is
}

// setDue sets the due time of a live message.
func (s *Set) setDue(seq uint64, due int64) {
	if s.dues == nil {
		s.dues = map[uint64]int64{}
	}
	s.dues[seq] = due
}

// comeBack counts one return for each live message of a run.
func (s *Set) comeBack(first, last uint64, one message.Returns) (n int) {
	s.each(first, last, func(i int, w *word, mask uint64) {
		n += bits.OnesCount64(w.live & mask)
		s.counts.add(i, w.live&mask, uint64(one))
		w.delivered |= w.live & mask
	})
	return n
}

// count adds n to the returns of a message.
func (s *Set) count(seq uint64, n message.Returns) {
	s.each(seq, seq, func(i int, w *word, mask uint64) { s.counts.add(i, w.live&mask, uint64(n)) })
}

// returns returns how often a message came back.
func (s *Set) returns(seq uint64) (n message.Returns) {
	s.each(seq, seq, func(i int, _ *word, mask uint64) { n = message.Returns(s.counts.sum(i, mask)) })
	return n
}

// Seqs lists the live messages.
func (s *Set) Seqs() (list []uint64) {
	for _, w := range s.words {
		for live := w.live; live != 0; live &= live - 1 {
			list = append(list, w.base*64+uint64(bits.TrailingZeros64(live)))
		}
	}
	return list
}

// Due returns the due time of a rescheduled message, 0 for others.
func (s *Set) Due(seq uint64) int64 { return s.dues[seq] }

// bounds returns the lowest and the highest base.
func (s *Set) bounds() (low, high uint64) {
	if len(s.words) == 0 {
		return 1, 0
	}
	return s.words[0].base * 64, s.words[len(s.words)-1].base*64 + 63
}

// copy returns a copy that does not change.
func (s *Set) copy() Set {
	c := *s
	c.Seg = &Segment{} // do not count the messages twice
	c.words = slices.Clone(s.words)
	c.sizes, c.counts, c.away, c.then, c.ttls = numbers{}, s.counts.clone(), s.away.clone(), s.then.clone(), slices.Clip(s.ttls)
	c.dues, c.until = maps.Clone(s.dues), maps.Clone(s.until)
	return c
}

// Spilled reports whether the set has spilled messages.
func (s *Set) Spilled() bool { return s.spill }
