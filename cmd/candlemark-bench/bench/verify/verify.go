package verify

import (
	"math/bits"
	"sync"
)

// Window is how many numbers a message may lag behind others of its producer.
const Window = 1 << 24

// ID names a message: the number of its producer, and how many that one sent before it.
type ID struct {
	Producer    uint32
	Redelivered bool // it may have come before
	Seq         uint64
}

// Queue keeps book of one queue. It is safe for concurrent use.
type Queue struct {
	// AnyOrder accepts messages of a producer in another order than that in which they were sent.
	AnyOrder bool

	mu                           sync.Mutex
	from                         map[uint32]*seen
	last                         *seen // of the message before
	lastFrom                     uint32
	doubled, disordered, foreign int64
	redelivered                  int64
}

// Reader is the order in which one consumer of a Queue sees messages. The zero value is new.
type Reader struct {
	next map[uint32]*uint64
	last *uint64 // of the producer of the message before
	from uint32
}

// due returns the number that a producer's next message has if all arrive in order.
func (r *Reader) due(producer uint32) *uint64 {
	if r.last != nil && r.from == producer {
		return r.last
	}
	if r.next == nil {
		r.next = map[uint32]*uint64{}
	}
	next := r.next[producer]
	if next == nil {
		next = new(uint64)
		r.next[producer] = next
	}
	r.last, r.from = next, producer
	return next
}

// Take notes messages in the order in which a consumer got them.
func (q *Queue) Take(r *Reader, ids []ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range ids {
		id := &ids[i]
		s := q.seen(id.Producer)
		switch fresh := s.add(id.Seq); {
		case id.Redelivered:
			q.redelivered++
			continue
		case !fresh:
			q.doubled++
			continue
		case q.AnyOrder:
			continue
		}
		if next := r.due(id.Producer); id.Seq < *next {
			q.disordered++
		} else {
			*next = id.Seq + 1
		}
	}
}

func (q *Queue) seen(producer uint32) *seen {
	if q.last != nil && q.lastFrom == producer {
		return q.last
	}
	if q.from == nil {
		q.from = map[uint32]*seen{}
	}
	s := q.from[producer]
	if s == nil {
		s = &seen{}
		q.from[producer] = s
	}
	q.last, q.lastFrom = s, producer
	return s
}

// TakeForeign notes messages that were not sent by this run.
func (q *Queue) TakeForeign(n int64) {
	q.mu.Lock()
	q.foreign += n
	q.mu.Unlock()
}

// Came returns how many different messages have come.
func (q *Queue) Came() (n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.from {
		n += s.count
	}
	return n
}

// Missing returns how many of the messages that a producer sent have not arrived.
func (q *Queue) Missing(producer uint32, sent int64) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.from[producer]; s != nil {
		return sent - s.count
	}
	return sent
}

// Findings counts the messages that went wrong.
type Findings struct {
	Lost       int64 `json:"lost"`         // sent and not refused, and never came
	Doubled    int64 `json:"doubled"`      // came again, not marked as redelivered
	Disordered int64 `json:"out_of_order"` // came to a consumer after a later one of the same producer
	Foreign    int64 `json:"foreign"`      // were not sent by this run
	Early      int64 `json:"early"`        // came before their time
}

// Add adds what another part of the run has.
func (f *Findings) Add(o Findings) {
	f.Lost += o.Lost
	f.Doubled += o.Doubled
	f.Disordered += o.Disordered
	f.Foreign += o.Foreign
	f.Early += o.Early
}

// OK reports whether there are no errors. Messages of other senders are not errors.
func (f Findings) OK() bool {
	return f.Lost == 0 && f.Doubled == 0 && f.Disordered == 0 && f.Early == 0
}

// Findings returns the findings so far, without missing messages, and the number of messages marked as redelivered.
func (q *Queue) Findings() (found Findings, redelivered int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Findings{Doubled: q.doubled, Disordered: q.disordered, Foreign: q.foreign}, q.redelivered
}

// seen is a set of numbers: all below base that were not given up, and the numbers whose bits are set in words[head:].
type seen struct {
	base  uint64 // a multiple of 64
	words []uint64
	head  int
	count int64
}

// add reports whether the number is new.
func (s *seen) add(seq uint64) bool {
	if seq < s.base {
		return false
	}
	if seq-s.base >= 2*Window {
		s.base, s.words, s.head = seq&^63-Window, s.words[:0], 0
	}
	for seq-s.base >= Window {
		s.drop()
	}
	at := int(seq-s.base)/64 + s.head
	for at >= len(s.words) {
		s.words = append(s.words, 0)
	}
	bit := uint64(1) << (seq % 64)
	if s.words[at]&bit != 0 {
		return false
	}
	s.words[at] |= bit
	s.count++
	for s.head < len(s.words) && bits.OnesCount64(s.words[s.head]) == 64 {
		s.drop()
	}
	return true
}

// drop forgets the first word.
func (s *seen) drop() {
	s.base += 64
	if s.head < len(s.words) {
		s.head++
	}
	if s.head*2 > len(s.words) || s.head == len(s.words) {
		s.words = s.words[:copy(s.words, s.words[s.head:])]
		s.head = 0
	}
}
