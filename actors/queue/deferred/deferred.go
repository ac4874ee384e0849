package deferred

import (
	"cmp"

	"github.com/tidwall/btree"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/wheel"
)

// Deferred holds the deferred messages of a queue that no consumer holds. A nil *Deferred is an empty set and valid for all
// methods except Add and Take.
type Deferred struct {
	messages *backlog.Backlog
	wheel    wheel.Wheel[*backlog.Backlog] // messages that expire
	there    map[uint64]backlog.Handle     // by number
	order    btree.BTreeG[uint64]          // the numbers
	bytes    int64
	due      []backlog.Handle // fired by the wheel, reused
	until    map[uint64]int64 // when postponed messages are ready again, by number; others wait for a consumer
	waiting  btree.BTreeG[postponed]
}

// postponed is a message that is ready again at a time, in wall ms.
type postponed struct {
	until int64
	seq   uint64
}

func (p postponed) before(q postponed) bool {
	return p.until < q.until || p.until == q.until && p.seq < q.seq
}

// New returns an empty Deferred of messages in b.
func New(b *backlog.Backlog) *Deferred {
	return &Deferred{
		messages: b, wheel: wheel.New(b), there: map[uint64]backlog.Handle{}, until: map[uint64]int64{},
		waiting: *btree.NewBTreeGOptions(postponed.before, btree.Options{NoLocks: true}),
		order:   *btree.NewBTreeGOptions(cmp.Less[uint64], btree.Options{NoLocks: true}),
	}
}

// Len returns the number of messages.
func (s *Deferred) Len() int {
	if s == nil {
		return 0
	}
	return len(s.there)
}

// Bytes returns the total length of their bodies.
func (s *Deferred) Bytes() int64 {
	if s == nil {
		return 0
	}
	return s.bytes
}

// Add adds a message that is not ready and that no consumer holds; now is in wall ms.
func (s *Deferred) Add(h backlog.Handle, now int64) {
	seq := s.messages.Seq(h)
	s.order.Set(seq)
	s.there[seq] = h
	s.bytes += s.messages.Size(h)
	if s.wheel.Len() == 0 {
		s.wheel.Advance(now, 0, nil) // fires nothing; sets the time
	}
	s.wheel.Add(h)
}

// Postpone sets the time at which a message is ready again, in wall ms (RETRY-1).
func (s *Deferred) Postpone(h backlog.Handle, until int64) {
	seq := s.messages.Seq(h)
	if before, is := s.until[seq]; is {
		s.waiting.Delete(postponed{before, seq})
	}
	s.until[seq] = until
	s.waiting.Set(postponed{until, seq})
}

// Behind yields the postponed messages after a position, by the time when they are ready again, in wall ms, and number.
// Nothing may change during the walk.
func (s *Deferred) Behind(until int64, seq uint64, yield func(h backlog.Handle) bool) {
	if s == nil {
		return
	}
	s.waiting.Ascend(postponed{until, seq}, func(p postponed) bool {
		return p == postponed{until, seq} || yield(s.there[p.seq])
	})
}

// Postponed returns the number of messages with a time when they are ready again.
func (s *Deferred) Postponed() int {
	if s == nil {
		return 0
	}
	return len(s.until)
}

// Until returns when a message is ready again, in wall ms; false if it waits for a consumer.
func (s *Deferred) Until(h backlog.Handle) (until int64, ok bool) {
	if s == nil {
		return 0, false
	}
	until, ok = s.until[s.messages.Seq(h)]
	return until, ok
}

// Take removes a message. A postponed message is an ordinary one from then on.
func (s *Deferred) Take(h backlog.Handle) {
	s.wheel.Remove(h)
	s.forget(h)
}

func (s *Deferred) forget(h backlog.Handle) {
	seq := s.messages.Seq(h)
	if until, ok := s.until[seq]; ok {
		s.messages.Entry(h).Marks &^= backlog.Deferred
		delete(s.until, seq)
		s.waiting.Delete(postponed{until, seq})
	}
	delete(s.there, seq)
	s.order.Delete(seq)
	s.bytes -= s.messages.Size(h)
}

// Find returns the message with that number.
func (s *Deferred) Find(seq uint64) (h backlog.Handle, ok bool) {
	if s == nil {
		return 0, false
	}
	h, ok = s.there[seq]
	return h, ok
}

// From yields messages with numbers above after, ascending, until yield returns false. Nothing may change during the
// walk.
func (s *Deferred) From(after uint64, yield func(h backlog.Handle) bool) {
	if s == nil {
		return
	}
	s.order.Ascend(after, func(seq uint64) bool { return seq == after || yield(s.there[seq]) })
}

// First returns the message with the lowest number.
func (s *Deferred) First() (h backlog.Handle, ok bool) {
	if s == nil {
		return 0, false
	}
	seq, ok := s.order.Min()
	return s.there[seq], ok
}

// Detach takes a message off the wheel so that its deadline can be changed, and reports whether it was in the Deferred. Reattach
// puts it back.
func (s *Deferred) Detach(h backlog.Handle) bool {
	if at, is := s.Find(s.messages.Seq(h)); !is || at != h {
		return false
	}
	s.wheel.Remove(h)
	return true
}

// Reattach puts a message back on the wheel; see Detach.
func (s *Deferred) Reattach(h backlog.Handle) { s.wheel.Add(h) }

// Next returns when Advance has to be called, in wall ms.
func (s *Deferred) Next() (int64, bool) {
	if s == nil {
		return 0, false
	}
	at, ok := s.wheel.Next()
	if p, is := s.waiting.Min(); is && (!ok || p.until < at) {
		return p.until, true
	}
	return at, ok
}

// Advance removes messages past their deadline, if over confirms it, and then messages whose time to be ready has
// passed, about limit of each, and calls end or ready for each. over may move a message to another deadline (Detach). It
// reports whether others may be left.
func (s *Deferred) Advance(now int64, limit int, over func(backlog.Handle) bool, end, ready func(backlog.Handle)) (more bool) {
	if s == nil {
		return false
	}
	more = s.wheel.Advance(now, limit, func(h uint32) { s.due = append(s.due, h) })
	for _, h := range s.due {
		if !over(h) {
			s.wheel.Add(h)
			continue
		}
		s.Take(h)
		end(h)
	}
	if s.due = s.due[:0]; cap(s.due) > 64 {
		s.due = nil
	}
	for range limit {
		p, ok := s.waiting.Min()
		if !ok || p.until > now {
			return more
		}
		h := s.there[p.seq]
		s.Take(h)
		ready(h)
	}
	return true
}
