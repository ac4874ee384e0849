package messages

import (
	"cmp"
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/internal/storage/store"
)

// Marks are the last runs of schedules that a queue has taken (REC-10). A nil *Marks is empty and valid for reading.
//
// Owns: a mark for each schedule, and which of their messages are in the queue.
//
// A restart loses the marks of messages that were not stored; for the others, the journal has notes.
type Marks struct {
	of    map[uint64]Mark
	there map[uint64]uint64 // the schedule of each message that is in the queue, by number
	gone  uint64            // the last message that was removed
}

// Mark is the last run of a schedule.
type Mark struct {
	Time int64  // nominal, ms since 1970
	Seq  uint64 // number of its message, 0 if the queue did not keep it
	note uint64 // number of the note in the journal, 0 for none
}

// MaxMarks is the maximum number of marks of a queue, above the number of schedules in a virtual host: beyond it, the oldest run is
// forgotten for each schedule that is new to the queue.
const MaxMarks = 20_000

// NotKept stands in the note of a mark for the distance to the number of a message that the queue did not keep.
const NotKept = 255

// bytesPerMark is the approximate size of a mark, in bytes.
const bytesPerMark = 120

// EnsureMarks returns the marks of the queue, and makes them if it has none.
func EnsureMarks(s *Messages) *Marks {
	if s.Marks == nil {
		s.Marks = &Marks{of: map[uint64]Mark{}, there: map[uint64]uint64{}}
		hookRemoved(s)
	}
	return s.Marks
}

// hookRemoved connects those who are told of removed messages with the journal's writer.
func hookRemoved(s *Messages) {
	switch all, marks := s.Sessions, s.Marks; {
	case marks == nil && all != nil:
		s.Journal.Removed = all.Gone
	case marks != nil:
		s.Journal.Removed = func(seq uint64) {
			marks.removed(seq)
			if all != nil {
				all.Gone(seq)
			}
		}
	}
}

func (m *Marks) removed(seq uint64) {
	m.gone = seq
	delete(m.there, seq)
}

// Len returns the number of marks.
func (m *Marks) Len() int {
	if m == nil {
		return 0
	}
	return len(m.of)
}

// Bytes returns the approximate memory use of the marks.
func (m *Marks) Bytes() int64 { return int64(m.Len()) * bytesPerMark }

// Of returns the mark of a schedule, whether its run is stored in the journal, and whether its message is still in the queue.
func (m *Marks) Of(schedule uint64) (mark Mark, stored, there bool) {
	if m == nil {
		return Mark{}, false, false
	}
	mark = m.of[schedule]
	_, there = m.there[mark.Seq]
	return mark, mark.note != 0, there && mark.Seq != 0
}

// Set replaces the mark of a schedule. note is the number of its note in the journal, 0 for none. forget is called with the notes no longer
// needed.
func (m *Marks) Set(schedule uint64, mark Mark, note uint64, forget func(note uint64)) {
	mark.note = note
	if before, known := m.of[schedule]; known {
		m.drop(schedule, before, forget)
	}
	if len(m.of) >= MaxMarks {
		m.dropOldest(forget)
	}
	if m.of[schedule] = mark; mark.Seq != 0 && mark.Seq != m.gone {
		m.there[mark.Seq] = schedule
	}
}

func (m *Marks) dropOldest(forget func(note uint64)) {
	var oldest uint64
	for id, one := range m.of {
		if first, known := m.of[oldest]; !known || one.Time < first.Time {
			oldest = id
		}
	}
	m.drop(oldest, m.of[oldest], forget)
}

func (m *Marks) drop(schedule uint64, mark Mark, forget func(note uint64)) {
	delete(m.there, mark.Seq)
	delete(m.of, schedule)
	if mark.note != 0 {
		forget(mark.note)
	}
}

// Restore adds a mark from the journal, unless there is a later one. The number of its message is missing if the journal has no such
// message: see Settle.
func (m *Marks) Restore(n *store.Recovered, forget func(note uint64)) {
	schedule := uint64(n.TTL)
	if before, known := m.of[schedule]; known && before.Time > n.Deadline {
		forget(n.Seq)
		return
	}
	mark := Mark{Time: n.Deadline}
	if n.Priority != NotKept {
		mark.Seq = n.Seq - uint64(n.Priority)
	}
	m.Set(schedule, mark, n.Seq, forget)
}

// Settle forgets which messages are in the queue, except those in a list of the journal, by ascending number.
func (m *Marks) Settle(list []store.Recovered) {
	if m == nil {
		return
	}
	for seq := range m.there {
		_, has := slices.BinarySearchFunc(list, seq, func(r store.Recovered, seq uint64) int { return cmp.Compare(r.Seq, seq) })
		if !has {
			delete(m.there, seq)
		}
	}
}

// replaceScan is how many ready messages ReadyAt looks at where they are in no order.
const replaceScan = 10_000

// ReadyAt returns the ready message with a number. It may miss one among many that are in no order.
func ReadyAt(b *backlog.Backlog, seq uint64) (found backlog.Handle, ok bool) {
	n := 0
	look := func(h backlog.Handle) bool {
		if b.Seq(h) == seq {
			found = h
		}
		n++
		return found == 0 && n < replaceScan
	}
	if backlog.Ordered(b) {
		backlog.From(b, seq-1, 1, func(h backlog.Handle) { look(h) })
	} else {
		b.Walk(look)
	}
	return found, found != 0
}
